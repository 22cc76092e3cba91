// V-shaped schedules: virtual stage s goes down the stages, 2p - 1 - s comes
// back up.

#include <algorithm>
#include <array>
#include <utility>

#include "core/step/schedules/generators.h"
#include "core/step/schedules/placement.h"
#include "core/step/schedules/weight_filling.h"

namespace prism::step {
namespace {

constexpr int kDown = 0;
constexpr int kUp = 1;

// Writes the operations of one stage of ZeroBubbleVOrder(), which takes each
// phase's micro-batches in order on each of its two chunks.
class ZeroBubbleVStage {
 public:
  ZeroBubbleVStage(int stage, int stages, int microbatches)
      : stage_(stage), stages_(stages), microbatches_(microbatches) {}

  // The pattern needs 2p - 1 micro-batches; those there are not are left out.
  std::vector<Operation> Run() && {
    WarmUp();
    const int count = std::max(microbatches_, 2 * stages_ - 1);
    while (done(Phase::kForward, kUp) < count) {
      if (done(Phase::kForward, kDown) < count) Do(Phase::kForward, kDown);
      WholeBackward(kDown);
      Do(Phase::kForward, kUp);
      WholeBackward(kUp);
    }
    WindDown();
    return std::move(operations_);
  }

 private:
  void WarmUp() {
    for (int i = 0; i < 2 * (stages_ - stage_) - 1; ++i) {
      Do(Phase::kForward, kDown);
    }
    for (int i = 0; i < stage_; ++i) {
      Do(Phase::kForward, kUp);
      Do(Phase::kForward, kDown);
    }
    for (int i = 0; i < stages_ - stage_; ++i) {
      Do(Phase::kForward, kUp);
      WholeBackward(kUp);
    }
  }

  void WindDown() {
    for (int i = 0; i < stage_; ++i) {
      Do(Phase::kBackwardInput, kDown);
      Do(Phase::kBackwardInput, kUp);
    }
    for (int i = 0; i < stages_ - stage_; ++i) WholeBackward(kDown);
    for (int chunk : {kUp, kDown}) {
      while (done(Phase::kBackwardWeight, chunk) <
             done(Phase::kBackwardInput, chunk)) {
        Do(Phase::kBackwardWeight, chunk);
      }
    }
  }

  int& done(Phase phase, int chunk) {
    return done_[static_cast<int>(phase)][chunk];
  }
  void Do(Phase phase, int chunk) {
    const int u = chunk == kDown ? stage_ : 2 * stages_ - 1 - stage_;
    const int microbatch = done(phase, chunk)++;
    if (microbatch < microbatches_) {
      operations_.push_back({phase, u, microbatch});
    }
  }
  // With the oldest weight part, which is its own until the wind-down.
  void WholeBackward(int chunk) {
    Do(Phase::kBackwardInput, chunk);
    Do(Phase::kBackwardWeight, chunk);
  }

  int stage_, stages_, microbatches_;
  std::array<std::array<int, 2>, kPhases> done_ = {};
  std::vector<Operation> operations_;
};

// A building block in the sense of arXiv 2405.15362: the time slots of one
// micro-batch's six operations on every stage, such that the block repeated
// every six slots has no two operations of a stage in one slot. The sum of the
// four slopes sets the lifespan of activations, and so the memory.
class BuildingBlock {
 public:
  static constexpr int kSlots = 6;

  // Slots by which an operation starts later on the next virtual stage.
  struct Slopes {
    int forward_down, forward_up, backward_down, backward_up;
  };

  BuildingBlock(int stages, const Slopes& slopes)
      : taken_(stages), stages_(stages) {
    const int last = stages - 1;
    Place(Phase::kForward, kDown, 0, 0, slopes.forward_down);
    Place(Phase::kForward, kUp, Slot(Phase::kForward, kDown, last) + 1, last,
          -slopes.forward_up);
    Place(Phase::kBackwardInput, kUp, Slot(Phase::kForward, kUp, 0) + 1, 0,
          slopes.backward_down);
    Place(Phase::kBackwardInput, kDown,
          Slot(Phase::kBackwardInput, kUp, last) + 1, last,
          -slopes.backward_up);
    for (int chunk : {kUp, kDown}) {
      for (int s = 0; s < stages; ++s) PlaceWeight(chunk, s);
    }
  }

  int Slot(Phase phase, int chunk, int stage) const {
    return slots_[static_cast<int>(phase)][chunk][stage];
  }

 private:
  // On `from` at `start` or the first slot after it at which no stage has a
  // clash, on the other stages by `slope` a stage.
  void Place(Phase phase, int chunk, int start, int from, int slope) {
    auto at = [&](int s) { return start + slope * (s - from); };
    auto clashes = [&] {
      for (int s = 0; s < stages_; ++s) {
        if (taken_[s][at(s) % kSlots]) return true;
      }
      return false;
    };
    for (int tries = 0; tries < kSlots && clashes(); ++tries) ++start;
    for (int s = 0; s < stages_; ++s) Take(phase, chunk, s, at(s));
  }

  void PlaceWeight(int chunk, int stage) {
    int slot = Slot(Phase::kBackwardInput, chunk, stage) + 1;
    while (taken_[stage][slot % kSlots]) ++slot;
    Take(Phase::kBackwardWeight, chunk, stage, slot);
  }

  void Take(Phase phase, int chunk, int stage, int slot) {
    auto& slots = slots_[static_cast<int>(phase)][chunk];
    slots.resize(stages_);
    slots[stage] = slot;
    taken_[stage][slot % kSlots] = true;
  }

  std::array<std::array<std::vector<int>, 2>, kPhases> slots_;
  std::vector<std::array<bool, kSlots>> taken_;
  int stages_;
};

std::vector<Operation> Repeated(const BuildingBlock& block, int stage,
                                int stages, int microbatches) {
  std::vector<std::pair<int, Operation>> timed;
  for (int i = 0; i < microbatches; ++i) {
    for (Phase phase :
         {Phase::kForward, Phase::kBackwardInput, Phase::kBackwardWeight}) {
      for (int chunk : {kDown, kUp}) {
        const int u = chunk == kDown ? stage : 2 * stages - 1 - stage;
        timed.push_back(
            {block.Slot(phase, chunk, stage) + i * BuildingBlock::kSlots,
             {phase, u, i}});
      }
    }
  }
  std::sort(timed.begin(), timed.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Operation> operations;
  for (const auto& [slot, op] : timed) operations.push_back(op);
  return operations;
}

// The block of every micro-batch, its weight parts moved to where they fill
// the start and the end; keeps at most `memory` micro-batches.
PipelineOrder BlockOrder(int stages, int microbatches,
                         const BuildingBlock& block, int memory) {
  PipelineOrder order = VPlacement(stages, microbatches);
  for (int s = 0; s < stages; ++s) {
    order.operations[s] = Repeated(block, s, stages, microbatches);
  }
  const std::vector<ActivationSize> chunks(order.stage_of.size(), {1, 1});
  return FillWithWeights(order, UniformTimes(order, {}), chunks, 2 * memory, 0);
}

}  // namespace

PipelineOrder ZeroBubbleVOrder(int stages, int microbatches) {
  PipelineOrder order = VPlacement(stages, microbatches);
  for (int s = 0; s < stages; ++s) {
    order.operations[s] = ZeroBubbleVStage(s, stages, microbatches).Run();
  }
  return order;
}

PipelineOrder HalfMemoryVOrder(int stages, int microbatches) {
  return BlockOrder(stages, microbatches, BuildingBlock(stages, {1, 2, 1, 2}),
                    (stages + 2) / 2);
}

PipelineOrder ThirdMemoryVOrder(int stages, int microbatches) {
  return BlockOrder(stages, microbatches, BuildingBlock(stages, {1, 1, 1, 1}),
                    (stages + 4) / 3);
}

}  // namespace prism::step
