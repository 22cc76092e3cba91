#include "core/step/schedules/list_scheduler.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "core/base/check.h"

namespace prism::step {
namespace {

struct Choice {
  Operation operation;
  double start = 0;
};

class ListScheduler {
 public:
  ListScheduler(PipelineOrder placement, const OperationTimes& times,
                const std::vector<ActivationSize>& sizes,
                const ListPolicy& policy)
      : order_(std::move(placement)),
        times_(times),
        sizes_(sizes),
        policy_(policy),
        stages_(order_.stages()),
        left_(order_.virtual_stages()) {
    for (int u = 0; u < order_.virtual_stages(); ++u) {
      stages_[order_.stage_of[u]].chunks.push_back(u);
    }
    for (Stage& stage : stages_) stage.next = Choose(stage);
  }

  absl::StatusOr<PipelineOrder> Run() {
    for (size_t s = 0; s < stages_.size(); ++s) {
      const double least = RoomFrom(stages_[s], stages_[s].chunks.front());
      if (least > policy_.memory) {
        return absl::ResourceExhaustedError(
            absl::StrCat("stage ", s, " needs memory of ", least,
                         " for one micro-batch; it has ", policy_.memory));
      }
    }
    while (Stage* stage = Earliest()) Do(*stage);
    return std::move(order_);
  }

 private:
  struct Stage {
    std::vector<int> chunks;  // its virtual stages, in order
    double free = 0;          // when it can start the next operation
    double kept = 0;          // activations
    std::deque<Operation> weights;
    std::optional<Choice> next;
  };

  // The stage whose choice starts first; null when all is done.
  Stage* Earliest() {
    Stage* earliest = nullptr;
    for (Stage& stage : stages_) {
      if (stage.next &&
          (earliest == nullptr || stage.next->start < earliest->next->start)) {
        earliest = &stage;
      }
    }
    return earliest;
  }

  void Do(Stage& stage) {
    const Operation op = stage.next->operation;
    const int u = op.virtual_stage;
    stage.free = stage.next->start + Duration(op);
    stage.kept += Change(op);
    if (op.phase == Phase::kBackwardWeight) {
      stage.weights.pop_front();
    } else {
      left_[u][Direction(op.phase)].push_back(stage.free);
    }
    if (op.phase == Phase::kBackwardInput) {
      stage.weights.push_back({Phase::kBackwardWeight, u, op.microbatch});
    }
    order_.operations[&stage - stages_.data()].push_back(op);
    stage.next = Choose(stage);
    for (int neighbour : {u - 1, u + 1}) {
      if (neighbour < 0 || neighbour >= order_.virtual_stages()) continue;
      Stage& other = stages_[order_.stage_of[neighbour]];
      other.next = Choose(other);
    }
  }

  std::optional<Choice> Choose(const Stage& stage) const {
    std::optional<Choice> best;
    for (auto u = stage.chunks.rbegin(); u != stage.chunks.rend(); ++u) {
      Offer(Backward(stage, *u), best);
    }
    for (auto u = stage.chunks.rbegin(); u != stage.chunks.rend(); ++u) {
      Offer(Forward(stage, *u), best);
    }
    if (stage.weights.empty()) return best;
    const Operation& weight = stage.weights.front();
    const double slack = policy_.patience * Duration(weight);
    if (!best || best->start > stage.free + slack) {
      best = Choice{weight, stage.free};
    }
    return best;
  }

  void Offer(const std::optional<Choice>& offer,
             std::optional<Choice>& best) const {
    if (!offer) return;
    const bool first = policy_.forwards_first && best &&
                       offer->operation.phase == Phase::kForward &&
                       best->operation.phase == Phase::kBackwardInput;
    if (!best || offer->start < best->start ||
        (first && offer->start == best->start)) {
      best = offer;
    }
  }

  std::optional<Choice> Forward(const Stage& stage, int u) const {
    const int i = Done(u, Phase::kForward);
    if (i == order_.microbatches || !MayBegin(stage, u)) return std::nullopt;
    const Operation op{Phase::kForward, u, i};
    if (u == 0) return Choice{op, stage.free};
    if (Done(u - 1, Phase::kForward) <= i) return std::nullopt;
    return Choice{op,
                  std::max(stage.free, Left(u - 1, op) + times_.hop[u - 1])};
  }

  std::optional<Choice> Backward(const Stage& stage, int u) const {
    const int i = Done(u, Phase::kBackwardInput);
    if (i == Done(u, Phase::kForward)) return std::nullopt;
    const Operation op{Phase::kBackwardInput, u, i};
    if (u + 1 == order_.virtual_stages()) return Choice{op, stage.free};
    if (Done(u + 1, Phase::kBackwardInput) <= i) return std::nullopt;
    return Choice{op, std::max(stage.free, Left(u + 1, op) + times_.hop[u])};
  }

  bool MayBegin(const Stage& stage, int u) const {
    if (stage.kept + RoomFrom(stage, u) > policy_.memory) return false;
    if (u != stage.chunks.front()) return true;
    const int begun = Done(u, Phase::kForward) - Done(u, Phase::kBackwardInput);
    const auto ahead = stages_.data() + stages_.size() - &stage;
    return begun + 1 <= std::max(1.0, policy_.reach * ahead);
  }

  // What `stage` keeps of a micro-batch from virtual stage `u` on.
  double RoomFrom(const Stage& stage, int u) const {
    double room = 0;
    for (int chunk : stage.chunks) {
      if (chunk >= u) room += sizes_[chunk].whole;
    }
    return room;
  }

  double Duration(const Operation& op) const {
    return Of(op.phase, times_.forward[op.virtual_stage],
              times_.backward[op.virtual_stage],
              times_.weight[op.virtual_stage]);
  }

  double Change(const Operation& op) const {
    const ActivationSize& size = sizes_[op.virtual_stage];
    return Of(op.phase, size.whole, size.for_weight - size.whole,
              -size.for_weight);
  }

  static double Of(Phase phase, double forward, double input, double weight) {
    if (phase == Phase::kForward) return forward;
    return phase == Phase::kBackwardInput ? input : weight;
  }

  static size_t Direction(Phase phase) {
    return phase == Phase::kForward ? 0 : 1;
  }
  int Done(int u, Phase phase) const {
    return static_cast<int>(left_[u][Direction(phase)].size());
  }
  // When the operation of the same micro-batch on virtual stage `u` was done.
  double Left(int u, const Operation& op) const {
    return left_[u][Direction(op.phase)][op.microbatch];
  }

  PipelineOrder order_;
  const OperationTimes& times_;
  const std::vector<ActivationSize>& sizes_;
  const ListPolicy& policy_;
  std::vector<Stage> stages_;
  // Virtual stage -> ends of its forwards and of its backwards.
  std::vector<std::array<std::vector<double>, 2>> left_;
};

}  // namespace

absl::StatusOr<PipelineOrder> ListSchedule(
    PipelineOrder placement, const OperationTimes& times,
    const std::vector<ActivationSize>& sizes, const ListPolicy& policy) {
  PRISM_CHECK(placement.chains == 1);
  PRISM_CHECK(sizes.size() == placement.stage_of.size());
  return ListScheduler(std::move(placement), times, sizes, policy).Run();
}

}  // namespace prism::step
