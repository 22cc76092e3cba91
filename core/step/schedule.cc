#include "core/step/schedule.h"

#include <algorithm>

#include "core/base/check.h"

namespace prism::step {
namespace {

std::vector<Operation> Gpipe(int stage, int microbatches) {
  std::vector<Operation> order;
  for (int i = 0; i < microbatches; ++i) {
    order.push_back({Phase::kForward, stage, i});
  }
  for (int i = 0; i < microbatches; ++i) {
    order.push_back({Phase::kBackward, stage, i});
  }
  return order;
}

// `warm_up` forwards, then pairs of forward and backward, then the rest of the
// backwards.
template <typename ForwardAt, typename BackwardAt>
std::vector<Operation> OneForwardOneBackward(int warm_up, int count,
                                             ForwardAt forward_at,
                                             BackwardAt backward_at) {
  std::vector<Operation> order;
  for (int k = 0; k < warm_up; ++k) order.push_back(forward_at(k));
  for (int k = warm_up; k < count; ++k) {
    order.push_back(forward_at(k));
    order.push_back(backward_at(k - warm_up));
  }
  for (int k = count - warm_up; k < count; ++k) {
    order.push_back(backward_at(k));
  }
  return order;
}

std::vector<Operation> Plain(int stage, int stages, int microbatches) {
  return OneForwardOneBackward(
      std::min(stages - stage - 1, microbatches), microbatches,
      [=](int k) {
        return Operation{Phase::kForward, stage, k};
      },
      [=](int k) {
        return Operation{Phase::kBackward, stage, k};
      });
}

// Narayanan et al., "Efficient large-scale language model training on GPU
// clusters using Megatron-LM" (arXiv 2104.04473), section 2.2.
std::vector<Operation> Interleaved(int stage, int stages, int chunks,
                                   int microbatches) {
  const int count = microbatches * chunks;
  const int warm_up =
      microbatches == stages
          ? count
          : std::min(2 * (stages - stage - 1) + (chunks - 1) * stages, count);
  auto chunk_of = [=](int k) { return k % (stages * chunks) / stages; };
  auto microbatch_of = [=](int k) {
    return k / (stages * chunks) * stages + k % stages;
  };
  return OneForwardOneBackward(
      warm_up, count,
      [=](int k) {
        return Operation{Phase::kForward, chunk_of(k) * stages + stage,
                         microbatch_of(k)};
      },
      [=](int k) {
        return Operation{Phase::kBackward,
                         (chunks - 1 - chunk_of(k)) * stages + stage,
                         microbatch_of(k)};
      });
}

}  // namespace

std::vector<std::vector<Operation>> StageOrders(ScheduleKind kind, int stages,
                                                int chunks, int microbatches) {
  PRISM_CHECK(stages >= 1 && chunks >= 1 && microbatches >= 1);
  std::vector<std::vector<Operation>> orders;
  for (int stage = 0; stage < stages; ++stage) {
    switch (kind) {
      case ScheduleKind::kGpipe:
        PRISM_CHECK(chunks == 1);
        orders.push_back(Gpipe(stage, microbatches));
        break;
      case ScheduleKind::kOneForwardOneBackward:
        PRISM_CHECK(chunks == 1);
        orders.push_back(Plain(stage, stages, microbatches));
        break;
      case ScheduleKind::kInterleaved:
        PRISM_CHECK(stages > 1 && microbatches % stages == 0);
        orders.push_back(Interleaved(stage, stages, chunks, microbatches));
        break;
    }
  }
  return orders;
}

int PeakChunksInFlight(const std::vector<Operation>& stage_order) {
  int now = 0, peak = 0;
  for (const Operation& operation : stage_order) {
    now += operation.phase == Phase::kForward    ? 1
           : operation.phase == Phase::kBackward ? -1
                                                 : 0;
    peak = std::max(peak, now);
  }
  return peak;
}

}  // namespace prism::step
