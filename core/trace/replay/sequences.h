// Micro-batches of uneven length: how uneven they are, and dealt out anew.
//
// The load of a compute is its work over its worker's mean of that kind, so
// that slow workers are no long sequences; the load of a micro-batch is the
// mean over the computes that it goes through in its replica. Pure functions.
#ifndef PRISM_CORE_TRACE_REPLAY_SEQUENCES_H_
#define PRISM_CORE_TRACE_REPLAY_SEQUENCES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/trace/replay/recorded_step.h"
#include "core/trace/replay/typical.h"

namespace prism::trace {

// The micro-batch of each operation: as recorded, else its number among those
// of its kind and virtual stage. kNone for all but computes.
std::vector<int32_t> Microbatches(const Step& step, const Sizes& sizes);

// Gathers how uneven micro-batches are.
class Unevenness {
 public:
  void Add(const RecordedStep& step, const Sizes& sizes,
           const Typical& typical);

  // Correlation, within steps, between the loads that one micro-batch has in
  // its forwards and in its backwards: 0 where durations vary on their own.
  double Correlation() const;
  // Deviation of the loads that forwards and backwards share.
  double Deviation() const;

 private:
  double n_ = 0, x_ = 0, y_ = 0, xx_ = 0, xy_ = 0, yy_ = 0;
};

// `work` with the micro-batches of all replicas dealt out anew: the longest
// first, each to the replica with the least to do that has a place left. A
// replica runs its own by falling length.
std::vector<double> SortSequences(const RecordedStep& step,
                                  std::span<const double> work,
                                  const Sizes& sizes, const Typical& typical);

// `work` as if all micro-batches of the step had its mean load.
std::vector<double> EvenSequences(const RecordedStep& step,
                                  std::span<const double> work,
                                  const Sizes& sizes, const Typical& typical);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_SEQUENCES_H_
