// Memory of the GPUs of a job, by part.
//
// All ranks of one pipeline stage need the same. Formulas and what they were
// held against: docs/model/workload.md.
//
// Requires of every function: the job is valid.
#ifndef PRISM_CORE_WORKLOAD_MEMORY_H_
#define PRISM_CORE_WORKLOAD_MEMORY_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/workload/job.h"

namespace prism::workload {

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

// Memory on the GPUs of pipeline stage `stage`, from 0.
MemoryUse StageMemory(const Job& job, int64_t stage);

// Memory of the fullest GPU of the job.
MemoryUse PeakMemory(const Job& job);

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_MEMORY_H_
