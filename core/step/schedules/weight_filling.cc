#include "core/step/schedules/weight_filling.h"

#include <algorithm>
#include <array>
#include <deque>

#include "core/base/check.h"

namespace prism::step {
namespace {

constexpr double kNotYet = -1;

class Filler {
 public:
  Filler(const PipelineOrder& order, const OperationTimes& times,
         const std::vector<ActivationSize>& sizes, double memory,
         double overrun)
      : order_(order),
        times_(times),
        sizes_(sizes),
        memory_(memory),
        overrun_(overrun),
        filled_(order),
        stages_(order.stages()) {
    for (auto& left : left_) {
      left.assign(order.passes(), kNotYet);
    }
    for (int s = 0; s < order.stages(); ++s) {
      filled_.operations[s].clear();
      for (const Operation& op : order.operations[s]) {
        if (op.phase != Phase::kBackwardWeight) stages_[s].rest.push_back(op);
      }
    }
  }

  PipelineOrder Run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int s = 0; s < order_.stages(); ++s) {
        while (Advance(s)) moved = true;
      }
    }
    for (int s = 0; s < order_.stages(); ++s) {
      PRISM_CHECK(stages_[s].rest.empty());
      while (!stages_[s].weights.empty()) RunWeight(s);
    }
    return std::move(filled_);
  }

 private:
  struct Stage {
    std::deque<Operation> rest;  // forwards and backwards to come
    std::deque<Operation> weights;
    double free = 0;
    double kept = 0;
  };

  bool Advance(int s) {
    Stage& stage = stages_[s];
    if (stage.rest.empty()) return false;
    const Operation op = stage.rest.front();
    const double arrival = Arrival(op);
    if (arrival == kNotYet) return false;
    while (!stage.weights.empty() &&
           (FitsBefore(stage, arrival) || Exceeds(stage, op))) {
      RunWeight(s);
    }
    stage.rest.pop_front();
    stage.free = std::max(stage.free, arrival) + Duration(op);
    left_[Direction(op)][order_.index(op)] = stage.free;
    filled_.operations[s].push_back(op);
    const ActivationSize& size = sizes_[op.virtual_stage];
    if (op.phase == Phase::kForward) {
      stage.kept += size.whole;
    } else {
      stage.kept -= size.whole - size.for_weight;
      stage.weights.push_back(op);
      stage.weights.back().phase = Phase::kBackwardWeight;
    }
    return true;
  }

  void RunWeight(int s) {
    Stage& stage = stages_[s];
    const Operation op = stage.weights.front();
    stage.weights.pop_front();
    stage.free += times_.weight[op.virtual_stage];
    stage.kept -= sizes_[op.virtual_stage].for_weight;
    filled_.operations[s].push_back(op);
  }

  bool FitsBefore(const Stage& stage, double arrival) const {
    const double weight = times_.weight[stage.weights.front().virtual_stage];
    return stage.free < arrival &&
           stage.free + (1 - overrun_) * weight <= arrival;
  }

  bool Exceeds(const Stage& stage, const Operation& op) const {
    return op.phase == Phase::kForward &&
           stage.kept + sizes_[op.virtual_stage].whole > memory_;
  }

  double Arrival(const Operation& op) const {
    const int u = op.virtual_stage;
    if (op.phase == Phase::kForward) {
      return order_.is_first(u) ? 0 : Hopped(op, u - 1, times_.hop[u - 1]);
    }
    return order_.is_last(u) ? 0 : Hopped(op, u + 1, times_.hop[u]);
  }

  double Hopped(Operation op, int from, double hop) const {
    op.virtual_stage = from;
    const double left = left_[Direction(op)][order_.index(op)];
    return left == kNotYet ? kNotYet : left + hop;
  }

  static size_t Direction(const Operation& op) {
    return op.phase == Phase::kForward ? 0 : 1;
  }

  double Duration(const Operation& op) const {
    return op.phase == Phase::kForward ? times_.forward[op.virtual_stage]
                                       : times_.backward[op.virtual_stage];
  }

  const PipelineOrder& order_;
  const OperationTimes& times_;
  const std::vector<ActivationSize>& sizes_;
  double memory_, overrun_;
  PipelineOrder filled_;
  std::vector<Stage> stages_;
  // When the results of forwards and backwards leave.
  std::array<std::vector<double>, 2> left_;
};

bool RunsWholeBackwards(const PipelineOrder& order) {
  const auto runs = PhasesOf(order)[static_cast<int>(Phase::kBackward)];
  return std::find(runs.begin(), runs.end(), true) != runs.end();
}

}  // namespace

PipelineOrder FillWithWeights(const PipelineOrder& order,
                              const OperationTimes& times,
                              const std::vector<ActivationSize>& sizes,
                              double memory, double overrun) {
  PRISM_CHECK(!RunsWholeBackwards(order));
  PRISM_CHECK(sizes.size() == order.stage_of.size());
  return Filler(order, times, sizes, memory, overrun).Run();
}

}  // namespace prism::step
