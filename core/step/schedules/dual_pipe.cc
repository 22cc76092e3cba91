// DualPipe and its V form, in the order of DualPipe.step() and DualPipeV.step()
// of github.com/deepseek-ai/DualPipe (3da1bba). Both run two streams of
// micro-batches that meet: in DualPipe from the two ends of the pipeline, in
// the V form down and up again.

#include <absl/strings/str_cat.h>

#include <deque>

#include "core/step/schedules/generators.h"
#include "core/step/schedules/placement.h"

namespace prism::step {
namespace {

// What of a stream a stage runs.
struct Stream {
  int virtual_stage;
  int first_microbatch;
  int forwards = 0;
  int backwards = 0;
};

// The operations of the stage at `depth` from its end of `depths`, `count`
// micro-batches a stream. `near` has just entered at this stage's end, `far`
// comes from the other.
class DualStage {
 public:
  DualStage(int depth, int depths, int count, Stream near, Stream far)
      : depth_(depth), depths_(depths), count_(count), near_(near), far_(far) {}

  // Puts the stage's operations into `order`.
  void Run(int stage, PipelineOrder& order) && {
    WarmUp();
    Meet();
    WindDown();
    order.operations[stage] = std::move(operations_);
  }

 private:
  void WarmUp() {
    const int ahead = depths_ - depth_ - 1;
    for (int i = 0; i < 2 * ahead; ++i) Forward(near_);
    for (int i = 0; i < depth_ + 1; ++i) {
      Forward(near_);
      Forward(far_);
    }
    for (int i = 0; i < ahead; ++i) {
      BackwardInput(far_);
      Weight();
      Forward(far_);
    }
  }

  // A forward of one stream beside a backward of the other, in turns.
  void Meet() {
    for (int i = 0; i < count_ - 2 * depths_ + depth_ + 1; ++i) {
      Forward(near_);
      WholeBackward(far_);
      Forward(far_);
      WholeBackward(near_);
    }
    for (int i = 0; i < depths_ - depth_ - 1; ++i) {
      WholeBackward(far_);
      Forward(far_);
      WholeBackward(near_);
    }
  }

  // The second half of the last backwards leave their weight parts to the end.
  void WindDown() {
    const int backwards = 2 * (depth_ + 1);
    for (int i = 0; i < backwards; ++i) {
      Stream& stream = i % 2 == 0 ? far_ : near_;
      if (2 * i < backwards) {
        WholeBackward(stream);
      } else {
        BackwardInput(stream);
      }
    }
    for (int i = 0; i < depths_ - depth_ - 1; ++i) {
      Weight();
      BackwardInput(near_);
    }
    while (!waiting_.empty()) Weight();
  }

  void Forward(Stream& stream) {
    operations_.push_back({Phase::kForward, stream.virtual_stage,
                           stream.first_microbatch + stream.forwards++});
  }
  void BackwardInput(Stream& stream) {
    operations_.push_back({Phase::kBackwardInput, stream.virtual_stage,
                           stream.first_microbatch + stream.backwards++});
    waiting_.push_back(operations_.back());
    waiting_.back().phase = Phase::kBackwardWeight;
  }
  void Weight() {
    operations_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  void WholeBackward(Stream& stream) {
    operations_.push_back({Phase::kBackward, stream.virtual_stage,
                           stream.first_microbatch + stream.backwards++});
  }

  int depth_, depths_, count_;
  Stream near_, far_;
  std::deque<Operation> waiting_;  // weight parts put off
  std::vector<Operation> operations_;
};

absl::Status TooFew(int stages, int microbatches) {
  return absl::InvalidArgumentError(absl::StrCat(
      "DualPipe has ", microbatches,
      " micro-batches; it needs at least twice its ", stages, " stages"));
}

}  // namespace

absl::StatusOr<PipelineOrder> DualPipeOrder(int stages, int microbatches) {
  if (stages % 2 != 0 || microbatches % 2 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("DualPipe has ", stages, " stages and ", microbatches,
                     " micro-batches; both must be even"));
  }
  if (microbatches < 2 * stages) return TooFew(stages, microbatches);
  PipelineOrder order = LoopedPlacement(stages, 2, microbatches);
  order.chains = 2;
  for (int s = 0; s < stages; ++s) {
    order.stage_of[2 * stages - 1 - s] = s;
    Stream down{s, 0}, up{2 * stages - 1 - s, microbatches / 2};
    const bool upper = s < stages / 2;
    DualStage(upper ? s : stages - 1 - s, stages / 2, microbatches / 2,
              upper ? down : up, upper ? up : down)
        .Run(s, order);
  }
  return order;
}

absl::StatusOr<PipelineOrder> DualPipeVOrder(int stages, int microbatches) {
  if (microbatches < 2 * stages) return TooFew(stages, microbatches);
  PipelineOrder order = VPlacement(stages, microbatches);
  for (int s = 0; s < stages; ++s) {
    DualStage(s, stages, microbatches, {s, 0}, {2 * stages - 1 - s, 0})
        .Run(s, order);
  }
  return order;
}

}  // namespace prism::step
