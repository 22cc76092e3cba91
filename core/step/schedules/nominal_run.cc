#include "core/step/schedules/nominal_run.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>

#include "core/base/check.h"

namespace prism::step {
namespace {

constexpr double kNotYet = -1;

class Runner {
 public:
  Runner(const PipelineOrder& order, const OperationTimes& times)
      : order_(order), times_(times), next_(order.stages(), 0) {
    run_.stages.resize(order.stages());
    for (auto& left : left_) {
      left.assign(order.passes(), kNotYet);
    }
    for (int stage = 0; stage < order.stages(); ++stage) {
      run_.stages[stage].start.reserve(order.operations[stage].size());
    }
  }

  absl::StatusOr<NominalRun> Run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int stage = 0; stage < order_.stages(); ++stage) {
        while (Advance(stage)) moved = true;
      }
    }
    for (int stage = 0; stage < order_.stages(); ++stage) {
      if (next_[stage] < order_.operations[stage].size()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "pipeline order: stages wait for each other in a circle; stage ",
            stage, " is stuck at the ",
            Describe(order_.operations[stage][next_[stage]])));
      }
      run_.seconds = std::max(run_.seconds, run_.stages[stage].end);
    }
    return std::move(run_);
  }

 private:
  // Runs the stage's next operation if what it needs has run.
  bool Advance(int stage) {
    const auto& operations = order_.operations[stage];
    if (next_[stage] == operations.size()) return false;
    const Operation& op = operations[next_[stage]];
    const double arrival = Arrival(op);
    if (arrival == kNotYet) return false;
    StageRun& run = run_.stages[stage];
    const double start = std::max(run.end, arrival);
    const double seconds = Duration(op);
    run.start.push_back(start);
    run.busy += seconds;
    run.end = start + seconds;
    if (op.phase != Phase::kBackwardWeight) Left(op) = run.end;
    ++next_[stage];
    return true;
  }

  // When what `op` needs from other operations is there, or kNotYet.
  double Arrival(const Operation& op) {
    const int u = op.virtual_stage;
    if (op.phase == Phase::kForward) {
      return order_.is_first(u) ? 0 : Hopped(op, u - 1, times_.hop[u - 1]);
    }
    if (SendsGradient(op.phase) && !order_.is_last(u)) {
      return Hopped(op, u + 1, times_.hop[u]);
    }
    // What it needs ran before it on the same stage.
    return 0;
  }

  double Hopped(Operation op, int from, double hop) {
    op.virtual_stage = from;
    const double left = Left(op);
    return left == kNotYet ? kNotYet : left + hop;
  }

  // When the result of `op` leaves, or kNotYet. A virtual stage may run a
  // backward whole and its neighbour the same in parts.
  double& Left(const Operation& op) {
    return left_[SendsGradient(op.phase) ? 1 : 0][order_.index(op)];
  }

  double Duration(const Operation& op) const {
    const int u = op.virtual_stage;
    switch (op.phase) {
      case Phase::kForward:
        return times_.forward[u];
      case Phase::kBackward:
        return times_.backward[u] + times_.weight[u];
      case Phase::kBackwardInput:
        return times_.backward[u];
      case Phase::kBackwardWeight:
        return times_.weight[u];
    }
    return 0;
  }

  const PipelineOrder& order_;
  const OperationTimes& times_;
  std::vector<size_t> next_;
  // Of forwards and of backwards, by PipelineOrder::index.
  std::array<std::vector<double>, 2> left_;
  NominalRun run_;
};

}  // namespace

OperationTimes UniformTimes(const PipelineOrder& order,
                            const UniformTime& time) {
  const int count = order.virtual_stages();
  OperationTimes times;
  times.forward.assign(count, time.forward);
  times.backward.assign(count, time.backward);
  times.weight.assign(count, time.weight);
  for (int u = 0; u + 1 < count; ++u) {
    const bool local = order.stage_of[u] == order.stage_of[u + 1];
    times.hop.push_back(local ? 0 : time.hop);
  }
  return times;
}

absl::StatusOr<NominalRun> RunNominally(const PipelineOrder& order,
                                        const OperationTimes& times) {
  const size_t count = order.stage_of.size();
  PRISM_CHECK(times.forward.size() == count && times.backward.size() == count);
  PRISM_CHECK(times.weight.size() == count && times.hop.size() + 1 == count);
  return Runner(order, times).Run();
}

double LongestIdle(const NominalRun& run) {
  double longest = 0;
  for (const StageRun& stage : run.stages) {
    longest = std::max(longest, stage.idle());
  }
  return longest;
}

}  // namespace prism::step
