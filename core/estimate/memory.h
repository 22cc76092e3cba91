// Memory of the GPUs of a job, by part.
//
// Joins the sizes of core/workload with what a schedule's order holds at a time
// (held_activations.h). All ranks of one pipeline stage need the same. Formulas
// and what they were held against: docs/model/workload.md.
//
// Requires of every function: the job is valid.
#ifndef PRISM_CORE_ESTIMATE_MEMORY_H_
#define PRISM_CORE_ESTIMATE_MEMORY_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/estimate/held_activations.h"
#include "core/workload/job.h"

namespace prism::estimate {

// Bytes on one GPU of `stage` when it holds most.
struct MemoryUse {
  int64_t stage = 0;
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;  // kept for the backward, and at hand in it
  double logits = 0;       // where the head needs most
  double buffers = 0;      // gathered weights, placeholders, rounded copies
  // Beyond what the framework counts: context, libraries, communication, and
  // what the allocator's blocks leave unused.
  double reserve = 0;

  // What the framework's allocator hands out (torch.cuda.max_memory_allocated).
  double allocated() const {
    return parameters + gradients + optimizer + activations + logits + buffers;
  }
  // What must fit into the device.
  double total() const { return allocated() + reserve; }

  // Each with its name; they sum to total().
  std::array<std::pair<std::string_view, double>, 7> parts() const {
    return {{{"parameters", parameters},
             {"gradients", gradients},
             {"optimizer", optimizer},
             {"activations", activations},
             {"logits", logits},
             {"buffers", buffers},
             {"reserve", reserve}}};
  }
};

// For searches over layouts: keeps what schedules hold. Not thread-safe.
class MemoryModel final {
 public:
  // By pipeline stage.
  std::vector<MemoryUse> Stages(const workload::Job& job);

  // Of the fullest GPU of the job.
  MemoryUse Peak(const workload::Job& job);

 private:
  HeldActivations held_;
};

// The same for a single question: pipeline stage `stage`, from 0, or the
// fullest GPU.
MemoryUse StageMemory(const workload::Job& job, int64_t stage);
MemoryUse PeakMemory(const workload::Job& job);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_MEMORY_H_
