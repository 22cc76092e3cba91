#include "core/explain/source.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/step/execution_plan.h"

namespace prism::explain {
namespace {

using stats::Distribution;
using step::FactorClass;
using step::Program;
using step::Segment;
using step::SharedFactor;
using step::StepGraph;
using step::Task;

// Below this a factor is the median's for every purpose.
constexpr double kNegligibleExcess = 1e-9;

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + (values.size() - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool TakesTime(const StepGraph& graph, const Task& task) {
  const Distribution& law = graph.distributions[task.distribution];
  return !law.IsConstant() || law.Mean() > 0;
}

const std::string& NameOf(const StepGraph& graph, const Task& task) {
  const std::string& name = graph.names[task.name];
  return name.empty() ? graph.kinds[task.kind] : name;
}

void AddTasks(const StepGraph& graph, std::vector<Source>& sources) {
  std::map<std::string, size_t> known;
  for (size_t p = 0; p < graph.programs.size(); ++p) {
    const auto& segments = graph.programs[p].segments;
    for (size_t s = 0; s < segments.size(); ++s) {
      for (size_t t = 0; t < segments[s].tasks.size(); ++t) {
        const Task& task = segments[s].tasks[t];
        if (!TakesTime(graph, task)) continue;
        const std::string name = NameOf(graph, task);
        const auto [found, is_new] = known.try_emplace(name, sources.size());
        if (is_new) {
          sources.push_back({.by = task.factor_class == FactorClass::kNetwork
                                       ? By::kCollective
                                       : By::kKind,
                             .name = name});
        }
        sources[found->second].tasks.push_back(
            {static_cast<int>(p), static_cast<int>(s), static_cast<int>(t)});
      }
    }
  }
}

void AddHops(const StepGraph& graph, std::vector<Source>& sources) {
  for (const auto* hops : {&graph.forward_hop, &graph.backward_hop}) {
    for (const int hop : *hops) {
      const Distribution& law = graph.distributions[hop];
      if (law.IsConstant() && law.Mean() == 0) continue;
      sources.push_back(
          {.by = By::kCollective, .name = "transfer", .hops = true});
      return;
    }
  }
}

void AddShared(const StepGraph& graph, std::vector<Source>& sources) {
  for (size_t f = 0; f < graph.shared_factors.size(); ++f) {
    const SharedFactor& factor = graph.shared_factors[f];
    if (factor.distribution.IsConstant()) continue;
    sources.push_back({.by = By::kShared,
                       .name = factor.name.empty()
                                   ? absl::StrCat("shared_factor.", f)
                                   : factor.name,
                       .shared_factor = static_cast<int>(f)});
  }
}

// Keeps the `most` sources with the largest excess, in their order.
void AddMost(std::vector<Source> found, int most, Sources& sources) {
  const auto left_out = static_cast<int>(found.size()) - most;
  if (left_out > 0) {
    std::vector<double> excess;
    for (const Source& source : found) excess.push_back(source.excess);
    std::nth_element(excess.begin(), excess.begin() + left_out, excess.end());
    const double least = excess[left_out];
    auto over = std::count_if(found.begin(), found.end(),
                              [least](auto& s) { return s.excess > least; });
    std::erase_if(found, [&](const Source& source) {
      return source.excess < least || (source.excess == least && ++over > most);
    });
    sources.left_out += left_out;
  }
  std::move(found.begin(), found.end(), std::back_inserter(sources.list));
}

Source StageSource(int stage, const std::vector<double>& compute) {
  const double median = MedianOf(compute);
  return {.by = By::kStage,
          .name = absl::StrCat("stage ", stage),
          .stage = stage,
          .excess = median > 0 ? compute[stage] / median : 1};
}

void AddStages(const StepGraph& graph, Sources& sources) {
  if (graph.grid.stages == 1) return;
  const std::vector<double> compute = ComputeOfStages(graph);
  std::vector<Source> found;
  for (int stage = 0; stage < graph.grid.stages; ++stage) {
    found.push_back(StageSource(stage, compute));
  }
  AddMost(std::move(found), kMostStages, sources);
}

void AddRanks(const StepGraph& graph, const std::vector<RankGroup>& groups,
              Sources& sources) {
  if (graph.slowdown.empty()) return;
  const double median = MedianOf(graph.slowdown);
  std::vector<Source> found;
  const auto add = [&](std::string name, std::vector<int64_t> ranks) {
    double slowest = 0;
    for (const int64_t rank : ranks) {
      slowest = std::max(slowest, graph.slowdown[rank]);
    }
    if (slowest <= median * (1 + kNegligibleExcess)) return;
    found.push_back({.by = By::kRank,
                     .name = std::move(name),
                     .ranks = std::move(ranks),
                     .excess = slowest / median});
  };
  for (const RankGroup& group : groups) add(group.name, group.ranks);
  if (groups.empty()) {
    for (int64_t rank = 0; rank < graph.grid.ranks(); ++rank) {
      if (graph.slowdown[rank] <= median) continue;
      add(absl::StrCat("rank ", rank), {rank});
    }
  }
  AddMost(std::move(found), kMostRankGroups, sources);
}

// A copy of the graph's programs for one stage alone: their indices.
std::vector<int> OwnPrograms(int stage, StepGraph& graph) {
  std::vector<int> own;
  std::map<int, int> copy_of;
  const auto copy = [&](int& program) {
    const auto [found, is_new] = copy_of.try_emplace(program, 0);
    if (is_new) {
      found->second = static_cast<int>(graph.programs.size());
      own.push_back(found->second);
      graph.programs.push_back(Program(graph.programs[program]));
    }
    program = found->second;
  };
  for (auto* lists : {&graph.program_of, &graph.first_program_of,
                      &graph.last_program_of, &graph.only_program_of}) {
    for (auto& programs : *lists) {
      for (size_t u = 0; u < programs.size(); ++u) {
        if (graph.stage_of[u] == stage && programs[u] >= 0) copy(programs[u]);
      }
    }
  }
  copy(graph.closing[stage]);
  return own;
}

void Freeze(Task& task, StepGraph& graph) {
  const Distribution& law = graph.distributions[task.distribution];
  if (law.IsConstant()) return;
  task.distribution =
      graph.add_distribution(Distribution::MakeConstant(law.Mean()));
  task.frozen = true;
}

void Scale(Task& task, double factor, StepGraph& graph) {
  const Distribution law = graph.distributions[task.distribution];
  // A draw of no length is a constant, but it was a draw.
  task.frozen = task.frozen || (factor == 0 && !law.IsConstant());
  task.distribution = graph.add_distribution(law.ScaledBy(factor));
}

// Calls `change` for every task of the source.
template <typename Change>
void ForTasks(const Source& source, StepGraph& graph, const Change& change) {
  std::vector<TaskPlace> places = source.tasks;
  if (source.stage) {
    for (const int p : OwnPrograms(*source.stage, graph)) {
      const auto& segments = graph.programs[p].segments;
      for (size_t s = 0; s < segments.size(); ++s) {
        for (size_t t = 0; t < segments[s].tasks.size(); ++t) {
          places.push_back({p, static_cast<int>(s), static_cast<int>(t)});
        }
      }
    }
  }
  for (const TaskPlace& place : places) {
    change(
        graph.programs[place.program].segments[place.segment].tasks[place.task],
        graph);
  }
}

template <typename Change>
void ForHops(const Source& source, StepGraph& graph, const Change& change) {
  if (!source.hops) return;
  for (auto* hops : {&graph.forward_hop, &graph.backward_hop}) {
    for (int& hop : *hops) {
      hop = graph.add_distribution(change(graph.distributions[hop]));
    }
  }
}

Distribution MeanOf(const Distribution& law) {
  return Distribution::MakeConstant(law.Mean());
}

bool StandsFor(std::string_view name, std::string_view source) {
  return source.substr(0, name.size()) == name &&
         (source.size() == name.size() || source[name.size()] == '.');
}

// The number behind "stage 3" or "stage:3", below `count`.
std::optional<int64_t> NumberOf(std::string_view name, std::string_view word,
                                int64_t count) {
  if (name.size() < word.size() + 2 || name.substr(0, word.size()) != word ||
      (name[word.size()] != ' ' && name[word.size()] != ':')) {
    return std::nullopt;
  }
  const std::string_view digits = name.substr(word.size() + 1);
  int64_t number = 0;
  if (!absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()),
                        &number) ||
      number < 0 || number >= count) {
    return std::nullopt;
  }
  return number;
}

// Of `sources`, all kinds and collectives that `name` stands for as one.
std::optional<Source> Joined(const std::vector<Source>& sources,
                             std::string_view name) {
  std::optional<Source> joined;
  for (const Source& source : sources) {
    if (!StandsFor(name, source.name)) continue;
    if (!joined) joined = Source{.by = source.by, .name = std::string(name)};
    joined->tasks.insert(joined->tasks.end(), source.tasks.begin(),
                         source.tasks.end());
    joined->hops = joined->hops || source.hops;
    if (source.shared_factor) joined->shared_factor = source.shared_factor;
  }
  return joined;
}

}  // namespace

Sources FindSources(const StepGraph& graph,
                    const std::vector<RankGroup>& groups) {
  Sources sources;
  AddTasks(graph, sources.list);
  AddHops(graph, sources.list);
  AddShared(graph, sources.list);
  AddStages(graph, sources);
  AddRanks(graph, groups, sources);
  return sources;
}

absl::StatusOr<Source> FindSource(const StepGraph& graph,
                                  const std::vector<RankGroup>& groups,
                                  std::string_view name) {
  std::vector<Source> sources;
  AddTasks(graph, sources);
  AddHops(graph, sources);
  AddShared(graph, sources);
  if (auto joined = Joined(sources, name)) return *std::move(joined);
  if (const auto stage = NumberOf(name, "stage", graph.grid.stages)) {
    return StageSource(static_cast<int>(*stage), ComputeOfStages(graph));
  }
  if (const auto rank = NumberOf(name, "rank", graph.grid.ranks())) {
    return Source{.by = By::kRank,
                  .name = absl::StrCat("rank ", *rank),
                  .ranks = {*rank}};
  }
  for (const RankGroup& group : groups) {
    if (group.name == name) {
      return Source{.by = By::kRank, .name = group.name, .ranks = group.ranks};
    }
  }
  std::vector<std::string> names;
  for (const Source& source : sources) names.push_back(source.name);
  names.push_back("stage:N");
  names.push_back("rank:N");
  return absl::NotFoundError(absl::StrCat(
      "names no source; must be one of ", absl::StrJoin(names, ", "),
      ", or what stands before a dot of them"));
}

StepGraph WithTypical(const StepGraph& graph, const Source& source) {
  StepGraph typical = graph;
  ForTasks(source, typical, Freeze);
  ForHops(source, typical, MeanOf);
  if (source.shared_factor) {
    auto& law = typical.shared_factors[*source.shared_factor].distribution;
    law = MeanOf(law);
  }
  if (source.stage && source.excess > 1) {
    typical.stage_scale.resize(graph.stage_of.size(), 1);
    for (size_t u = 0; u < graph.stage_of.size(); ++u) {
      if (graph.stage_of[u] == *source.stage) {
        typical.stage_scale[u] /= source.excess;
      }
    }
  }
  if (!source.ranks.empty() && !graph.slowdown.empty()) {
    const double median = MedianOf(graph.slowdown);
    for (const int64_t rank : source.ranks) typical.slowdown[rank] = median;
  }
  return typical;
}

StepGraph WithScaled(const StepGraph& graph, const Source& source,
                     double factor) {
  StepGraph scaled = graph;
  ForTasks(source, scaled, [factor](Task& task, StepGraph& changed) {
    Scale(task, factor, changed);
  });
  ForHops(source, scaled,
          [factor](const Distribution& law) { return law.ScaledBy(factor); });
  if (source.shared_factor) {
    auto& law = scaled.shared_factors[*source.shared_factor].distribution;
    law = law.ScaledBy(factor);
  }
  if (!source.ranks.empty()) {
    scaled.slowdown.resize(graph.grid.ranks(), 1);
    for (const int64_t rank : source.ranks) scaled.slowdown[rank] *= factor;
  }
  return scaled;
}

std::vector<double> ComputeOfStages(const StepGraph& graph) {
  std::vector<double> of_program;
  for (const Program& program : graph.programs) {
    double seconds = 0;
    for (const Segment& segment : program.segments) {
      for (const Task& task : segment.tasks) {
        if (task.factor_class != FactorClass::kCompute) continue;
        seconds += static_cast<double>(segment.count) *
                   graph.distributions[task.distribution].Mean();
      }
    }
    of_program.push_back(seconds);
  }
  std::vector<double> of_stage(graph.grid.stages, 0);
  const auto plan = step::PlanExecution(graph);
  if (!plan.ok()) return of_stage;
  for (const step::PlannedOperation& planned : plan->operations) {
    if (planned.role != step::PlannedOperation::Role::kOperation) continue;
    of_stage[planned.stage] +=
        of_program[planned.program] *
        (graph.stage_scale.empty()
             ? 1
             : graph.stage_scale[planned.operation.virtual_stage]);
  }
  return of_stage;
}

}  // namespace prism::explain
