#include "core/explain/rebalance.h"

#include <algorithm>
#include <numeric>

namespace prism::explain {
namespace {

// Whether the second word of `name`, between dots, is one of `words`.
bool IsBelow(std::string_view name,
             const std::vector<std::string_view>& words) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view rest = name.substr(dot + 1);
  const std::string_view word = rest.substr(0, rest.find('.'));
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

using step::Segment;
using step::StepGraph;

std::vector<int64_t> BalancedLayers(const std::vector<StagePart>& parts,
                                    const std::vector<double>& slowdown,
                                    double layer_seconds, int64_t layers) {
  std::vector<int64_t> split;
  std::vector<double> stage_seconds(slowdown.size(), 0);
  const auto add = [&](const StagePart& part, double seconds) {
    for (const int stage : part.stages) {
      stage_seconds[stage] += seconds * slowdown[stage];
    }
  };
  for (const StagePart& part : parts) {
    split.push_back(part.fewest_layers);
    layers -= part.fewest_layers;
    add(part, part.fixed_seconds +
                  layer_seconds * static_cast<double>(part.fewest_layers));
  }
  for (; layers > 0; --layers) {
    size_t best = 0;
    double shortest = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      double longest = 0;
      for (const int stage : parts[i].stages) {
        longest = std::max(
            longest, stage_seconds[stage] + layer_seconds * slowdown[stage]);
      }
      const bool better =
          longest < shortest || (longest == shortest && split[i] < split[best]);
      if (i == 0 || better) {
        best = i;
        shortest = longest;
      }
    }
    ++split[best];
    add(parts[best], layer_seconds);
  }
  return split;
}

std::vector<double> BalancedScales(const std::vector<int>& stage_of,
                                   const std::vector<double>& scales,
                                   const std::vector<double>& slowdown) {
  std::vector<double> parts(slowdown.size(), 0);  // virtual stages of each
  for (const int stage : stage_of) parts[stage] += 1;
  double sum = 0, speed = 0;
  for (size_t u = 0; u < stage_of.size(); ++u) {
    sum += scales.empty() ? 1 : scales[u];
  }
  for (const double factor : slowdown) speed += 1 / factor;
  std::vector<double> balanced;
  for (const int stage : stage_of) {
    balanced.push_back(sum / speed / slowdown[stage] / parts[stage]);
  }
  return balanced;
}

std::vector<double> SlowdownOfStages(const StepGraph& graph) {
  if (graph.slowdown.empty()) {
    return std::vector<double>(graph.grid.stages, 1.0);
  }
  std::vector<double> largest(graph.grid.stages, 0);
  for (int64_t rank = 0; rank < graph.grid.ranks(); ++rank) {
    double& of_stage = largest[rank / graph.grid.lanes % graph.grid.stages];
    of_stage = std::max(of_stage, graph.slowdown[rank]);
  }
  return largest;
}

SecondsOfStages SplitSeconds(const StepGraph& graph,
                             const std::vector<std::string_view>& names) {
  SecondsOfStages seconds = {std::vector<double>(graph.stage_of.size(), 0),
                             std::vector<double>(graph.stage_of.size(), 0)};
  // A backward is one operation or two; where programs for both are there, the
  // parts are the same.
  const auto& parts =
      graph.program_of[static_cast<size_t>(step::Phase::kBackwardInput)];
  for (size_t u = 0; u < graph.stage_of.size(); ++u) {
    const bool in_parts = u < parts.size() && parts[u] >= 0;
    for (int phase = 0; phase < step::kPhases; ++phase) {
      const auto& programs = graph.program_of[phase];
      if (u >= programs.size() || programs[u] < 0) continue;
      if (in_parts && phase == static_cast<int>(step::Phase::kBackward)) {
        continue;
      }
      for (const Segment& segment : graph.programs[programs[u]].segments) {
        for (const step::Task& task : segment.tasks) {
          const bool named = IsBelow(graph.names[task.name], names);
          (named ? seconds.named : seconds.others)[u] +=
              static_cast<double>(segment.count) *
              graph.distributions[task.distribution].Mean();
        }
      }
    }
  }
  return seconds;
}

}  // namespace prism::explain
