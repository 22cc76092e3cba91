// Elements: what a row of a simulation runs over.
//
// One element is one replica in one sample. A block of rows [lane][element]
// simulates one stage of all its elements at once. Where replicas wait for
// each other, the elements of a sample stand together, replica 0 first.
#ifndef PRISM_CORE_STEP_ELEMENTS_H_
#define PRISM_CORE_STEP_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/stats/draw_kernels.h"

namespace prism::step {

struct Elements {
  // Padded to whole vectors; padding repeats element 0.
  std::vector<uint64_t> replica;
  std::vector<uint64_t> sample;
  size_t count = 0;

  // Distance between the rows of two lanes.
  size_t stride() const { return stats::RowSize(count); }

  void Resize(size_t n) {
    count = n;
    replica.assign(stride(), 0);
    sample.assign(stride(), 0);
  }
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_ELEMENTS_H_
