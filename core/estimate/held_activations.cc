#include "core/estimate/held_activations.h"

#include <algorithm>
#include <cstddef>

#include "core/estimate/job_order.h"
#include "core/workload/activation_memory.h"
#include "core/workload/stages.h"

namespace prism::estimate {
namespace {

using step::Operation;
using step::Phase;
using workload::Job;
using workload::Recompute;

// Bytes of one micro-batch on one virtual stage.
struct ChunkBytes {
  double kept = 0;        // all layers keep everything
  double recomputed = 0;  // as much is computed again as the job says
  double for_weight = 0;

  bool operator==(const ChunkBytes&) const = default;
};

ChunkBytes BytesOf(const Job& job, int64_t u) {
  const auto layers = static_cast<double>(LayersOfVirtualStage(job, u));
  const auto again = static_cast<double>(RecomputedLayers(job, u));
  const Recompute rest = job.training.recompute == Recompute::kFull
                             ? Recompute::kNone
                             : job.training.recompute;
  const double layer = KeptLayerBytes(job, rest);
  ChunkBytes bytes;
  bytes.kept = layers * layer;
  bytes.recomputed =
      again * KeptLayerBytes(job, Recompute::kFull) + (layers - again) * layer;
  if (!SplitsBackward(job.parallelism.schedule)) return bytes;
  bytes.for_weight = layers * LayerBytesForWeights(job);
  if (HasHead(job.parallelism, u)) bytes.for_weight += HeadBytesForWeights(job);
  return bytes;
}

// By virtual stage.
std::vector<ChunkBytes> BytesOfChunks(const Job& job) {
  std::vector<ChunkBytes> bytes;
  for (int64_t u = 0; u < VirtualStages(job.parallelism); ++u) {
    bytes.push_back(BytesOf(job, u));
  }
  return bytes;
}

// Whether one size stands for all that `stage` holds.
bool AreAlike(const Job& job, int64_t stage,
              const std::vector<ChunkBytes>& bytes) {
  const workload::Parallelism& split = job.parallelism;
  if (job.training.keep_microbatches > 0) return false;
  for (int64_t chunk = 1; chunk < split.virtual_stages; ++chunk) {
    const int64_t u = VirtualStageOf(split, stage, chunk);
    if (bytes[static_cast<size_t>(u)] != bytes[static_cast<size_t>(stage)]) {
      return false;
    }
  }
  return true;
}

// Goes through the operations of one stage.
class StageWalk final {
 public:
  StageWalk(const Job& job, int64_t stage, const std::vector<ChunkBytes>& bytes)
      : bytes_(bytes),
        waits_(job.training.offload_activations),
        keep_(job.training.keep_microbatches),
        window_(keep_ > 0 ? ForwardsInFlight(job, stage) : 1) {}

  double Peak(const step::PipelineOrder& order,
              const std::vector<Operation>& operations) {
    std::vector<double> whole(order.passes());
    double peak = 0;
    for (const Operation& op : operations) {
      Run(op, whole[order.index(op)]);
      peak = std::max(peak, (1 - waits_) * whole_ + for_weight_ +
                                waits_ * std::min(whole_, largest_));
    }
    return peak;
  }

 private:
  void Run(const Operation& op, double& whole) {
    const ChunkBytes& bytes = bytes_[static_cast<size_t>(op.virtual_stage)];
    switch (op.phase) {
      case Phase::kForward:
        whole = forwards_++ % window_ < keep_ ? bytes.kept : bytes.recomputed;
        largest_ = std::max(largest_, whole);
        whole_ += whole;
        return;
      case Phase::kBackward:
        whole_ -= whole;
        return;
      case Phase::kBackwardInput:
        whole_ -= whole;
        for_weight_ += bytes.for_weight;
        return;
      case Phase::kBackwardWeight:
        for_weight_ -= bytes.for_weight;
        return;
    }
  }

  const std::vector<ChunkBytes>& bytes_;
  double waits_;  // share on the host
  int64_t keep_;
  int64_t window_;
  int64_t forwards_ = 0;
  double largest_ = 0;
  double whole_ = 0;
  double for_weight_ = 0;
};

// A search keeps within its limit, whatever it finds: as many chunks, of the
// largest.
double LimitBytes(const Job& job, int64_t stage,
                  const std::vector<ChunkBytes>& bytes) {
  const workload::Parallelism& split = job.parallelism;
  ChunkBytes most;
  for (int64_t chunk = 0; chunk < split.virtual_stages; ++chunk) {
    const int64_t u = VirtualStageOf(split, stage, chunk);
    const ChunkBytes& other = bytes[static_cast<size_t>(u)];
    most.recomputed = std::max(most.recomputed, other.recomputed);
    most.for_weight = std::max(most.for_weight, other.for_weight);
  }
  const auto limit = static_cast<double>(split.virtual_stages *
                                         std::min(split.activation_limit > 0
                                                      ? split.activation_limit
                                                      : split.pipeline,
                                                  job.microbatches()));
  const double waits = job.training.offload_activations;
  return std::max(((1 - waits) * limit + waits) * most.recomputed,
                  limit * most.for_weight);
}

// What of `held` is on the device.
double BytesOf(const HeldActivations::Held& held, const ChunkBytes& chunk,
               double waits) {
  const auto whole = static_cast<double>(held.whole);
  return ((1 - waits) * whole + waits * std::min(whole, 1.0)) *
             chunk.recomputed +
         static_cast<double>(held.for_weight) * chunk.for_weight;
}

bool IsWithin(const HeldActivations::Held& a, const HeldActivations::Held& b) {
  return a.whole <= b.whole && a.for_weight <= b.for_weight;
}

void Keep(const HeldActivations::Held& now,
          std::vector<HeldActivations::Held>& most) {
  for (const HeldActivations::Held& other : most) {
    if (IsWithin(now, other)) return;
  }
  std::erase_if(most, [&](const auto& other) { return IsWithin(other, now); });
  most.push_back(now);
}

std::vector<HeldActivations::Held> FrontierOf(
    const std::vector<Operation>& operations) {
  std::vector<HeldActivations::Held> most;
  HeldActivations::Held now;
  for (const Operation& op : operations) {
    now.whole += op.phase == Phase::kForward     ? 1
                 : step::SendsGradient(op.phase) ? -1
                                                 : 0;
    now.for_weight += op.phase == Phase::kBackwardInput    ? 1
                      : op.phase == Phase::kBackwardWeight ? -1
                                                           : 0;
    Keep(now, most);
  }
  return most;
}

}  // namespace

double OffloadedBytes(const Job& job, int64_t u) {
  if (job.training.offload_activations == 0) return 0;
  const ChunkBytes bytes = BytesOf(job, u);
  const double again = RecomputingShare(job, StageOf(job.parallelism, u));
  return job.training.offload_activations *
         (again * bytes.recomputed + (1 - again) * bytes.kept);
}

std::vector<double> HeldActivations::PeakBytes(const Job& job) {
  const workload::Parallelism& split = job.parallelism;
  const std::vector<ChunkBytes> bytes = BytesOfChunks(job);
  std::vector<double> peaks;
  for (int64_t stage = 0; stage < split.pipeline; ++stage) {
    const auto s = static_cast<size_t>(stage);
    double& peak = peaks.emplace_back(0);
    if (split.schedule == workload::Schedule::kZeroBubbleAuto) {
      peak = LimitBytes(job, stage, bytes);
    } else if (AreAlike(job, stage, bytes)) {
      for (const Held& held : FrontierOf(job)[s]) {
        peak = std::max(
            peak, BytesOf(held, bytes[s], job.training.offload_activations));
      }
    } else {
      const step::PipelineOrder& order = orders_.OrderOf(job);
      peak = StageWalk(job, stage, bytes).Peak(order, order.operations[s]);
    }
  }
  return peaks;
}

const HeldActivations::Frontier& HeldActivations::FrontierOf(const Job& job) {
  const workload::Parallelism& split = job.parallelism;
  const Key key = {static_cast<int64_t>(split.schedule), split.pipeline,
                   split.virtual_stages, job.microbatches()};
  const auto [found, is_new] = known_.try_emplace(key);
  if (is_new) {
    for (const auto& operations : orders_.OrderOf(job).operations) {
      found->second.push_back(estimate::FrontierOf(operations));
    }
  }
  return found->second;
}

}  // namespace prism::estimate
