// Held activations: how much each stage keeps of its micro-batches at its peak.
//
// The order of a stage's operations says when activations come and go; what
// the operations take does not matter. Exact for every schedule, number of
// micro-batches and size of chunks.
#ifndef PRISM_CORE_ESTIMATE_HELD_ACTIVATIONS_H_
#define PRISM_CORE_ESTIMATE_HELD_ACTIVATIONS_H_

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <vector>

#include "core/estimate/job_order.h"
#include "core/step/schedules/pipeline_order.h"
#include "core/workload/job.h"

namespace prism::estimate {

// Bytes that one micro-batch on virtual stage `u` moves to the host, and back,
// in the mean over micro-batches.
double OffloadedBytes(const workload::Job& job, int64_t u);

// Keeps what schedules hold between calls: not thread-safe.
class HeldActivations final {
 public:
  // Chunks held at some time.
  struct Held {
    int64_t whole = 0;       // between forward and backward
    int64_t for_weight = 0;  // between the parts of a split backward
  };

  // Bytes on one GPU, by stage; of layers, and of heads whose weight part is
  // still to come. With offload_activations the virtual stage at work has all
  // of its own, the others their share.
  //
  // Requires: the job is valid.
  std::vector<double> PeakBytes(const workload::Job& job);

 private:
  // By stage, what is not less in both than something else that is held.
  using Frontier = std::vector<std::vector<Held>>;
  using Key = std::array<int64_t, 4>;

  const Frontier& FrontierOf(const workload::Job& job);

  JobOrders orders_;
  absl::flat_hash_map<Key, Frontier> known_;
};

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_HELD_ACTIVATIONS_H_
