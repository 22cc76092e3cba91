#include "core/placement/step_times.h"

#include <algorithm>
#include <cmath>

#include "core/placement/normal_maximum.h"

namespace prism::placement {
namespace {

using step::FactorClass;
using step::Program;
using step::StepGraph;
using step::Task;

// Sums of draws, in seconds and seconds squared.
struct Sum {
  double compute = 0;
  double network = 0;
  double compute_variance = 0;
  double network_variance = 0;

  double variance() const { return compute_variance + network_variance; }
};

// Sums one program. Between two meetings of the lanes each lane adds a sum of
// draws of its own; the meeting takes the latest of as many equal normals.
class ProgramSum {
 public:
  explicit ProgramSum(const StepGraph& graph) : graph_(graph) {
    const EqualNormals lanes = {.count = static_cast<double>(graph.grid.lanes)};
    latest_ = MaximumOfNormals({&lanes, 1}, 1);
  }

  OperationTime Of(const Program& program) {
    total_ = part_ = Sum();
    for (const step::Segment& segment : program.segments) {
      const auto count = static_cast<double>(segment.count);
      if (std::none_of(segment.tasks.begin(), segment.tasks.end(),
                       [this](const Task& task) { return MeetsLanes(task); })) {
        AddPass(segment, count);
        continue;
      }
      // What a pass leaves joins the next one, so all after the first are
      // alike.
      AddPass(segment, 1);
      if (segment.count > 1) AddMeetingPasses(segment, count - 1);
    }
    Meet(1);
    return {total_.compute, total_.network, std::sqrt(total_.variance())};
  }

  // Of the longest part seen: deviation of one lane over its mean.
  double lane_cv() const { return lane_cv_; }

 private:
  // One pass, or as many as `times` of a segment without a meeting.
  void AddPass(const step::Segment& segment, double times) {
    for (const Task& task : segment.tasks) {
      if (MeetsLanes(task)) {
        Meet(1);
        Add(task, 1, total_);
      } else {
        Add(task, times, part_);
      }
    }
  }

  void AddMeetingPasses(const step::Segment& segment, double times) {
    for (const Task& task : segment.tasks) {
      if (MeetsLanes(task)) {
        Meet(times);
        Add(task, times, total_);
      } else {
        Add(task, 1, part_);
      }
    }
  }

  void Add(const Task& task, double times, Sum& sum) {
    const auto& law = graph_.distributions[task.distribution];
    const bool network = task.factor_class == FactorClass::kNetwork;
    (network ? sum.network : sum.compute) += times * law.Mean();
    (network ? sum.network_variance : sum.compute_variance) +=
        times * law.Variance();
  }

  bool MeetsLanes(const Task& task) const {
    return task.group != step::kNoGroup &&
           graph_.groups[task.group].lane_count > 1;
  }

  void Meet(double times) {
    const double deviation = std::sqrt(part_.variance());
    if (part_.compute > longest_) {
      longest_ = part_.compute;
      lane_cv_ = std::sqrt(part_.compute_variance) / part_.compute;
    }
    const double excess = times * latest_.mean * deviation;
    const double compute_share =
        deviation > 0 ? part_.compute_variance / part_.variance() : 0;
    total_.compute += times * part_.compute + compute_share * excess;
    total_.network += times * part_.network + (1 - compute_share) * excess;
    total_.compute_variance +=
        times * latest_.variance * part_.compute_variance;
    total_.network_variance +=
        times * latest_.variance * part_.network_variance;
    part_ = Sum();
  }

  const StepGraph& graph_;
  MaximumMoments latest_;
  Sum total_;
  Sum part_;
  double longest_ = 0;
  double lane_cv_ = 0;
};

// Mean of all step-wide and other factors on compute.
double SharedComputeFactor(const StepGraph& graph) {
  double factor = 1;
  for (const step::SharedFactor& shared : graph.shared_factors) {
    if (shared.applies_to[static_cast<size_t>(FactorClass::kCompute)]) {
      factor *= shared.distribution.Mean();
    }
  }
  return factor;
}

// Mean of the latest of `count` normals above the mean of one, in deviations.
double LatestOf(double count) {
  const EqualNormals equal = {.mean = 0, .count = count};
  return MaximumOfNormals({&equal, 1}, 1).mean;
}

// The latest lane's collectives and the latest rank's optimizer.
ClosingTime ClosingOf(const StepGraph& graph, const Program& program) {
  ClosingTime closing;
  double network_variance = 0, optimizer_variance = 0;
  for (const step::Segment& segment : program.segments) {
    const auto count = static_cast<double>(segment.count);
    for (const Task& task : segment.tasks) {
      const auto& law = graph.distributions[task.distribution];
      const bool network = task.factor_class == FactorClass::kNetwork;
      (network ? closing.network : closing.optimizer) += count * law.Mean();
      (network ? network_variance : optimizer_variance) +=
          count * law.Variance();
    }
  }
  closing.network += LatestOf(graph.grid.lanes) * std::sqrt(network_variance);
  closing.optimizer +=
      LatestOf(static_cast<double>(graph.grid.lanes) * graph.grid.replicas) *
      std::sqrt(optimizer_variance);
  return closing;
}

std::vector<double> HopsOf(const StepGraph& graph,
                           const std::vector<int>& distributions) {
  std::vector<double> seconds;
  for (const int index : distributions) {
    seconds.push_back(graph.distributions[index].Mean());
  }
  return seconds;
}

}  // namespace

StepTimes TimesOf(const StepGraph& graph) {
  StepTimes times;
  ProgramSum sum(graph);
  const double shared = SharedComputeFactor(graph);
  for (const std::vector<int>& programs : graph.program_of) {
    for (size_t u = 0; u < programs.size(); ++u) {
      OperationTime time;
      if (programs[u] >= 0) time = sum.Of(graph.programs[programs[u]]);
      const double scale =
          shared * (graph.stage_scale.empty() ? 1 : graph.stage_scale[u]);
      time.compute *= scale;
      times.operations.push_back(time);
    }
  }
  times.lane_cv = sum.lane_cv();
  times.forward_hop = HopsOf(graph, graph.forward_hop);
  times.backward_hop = HopsOf(graph, graph.backward_hop);
  for (const int program : graph.closing) {
    times.closing.push_back(ClosingOf(graph, graph.programs[program]));
  }
  return times;
}

}  // namespace prism::placement
