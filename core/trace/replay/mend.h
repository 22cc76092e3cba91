// Mender: steps that lack operations, made whole where little is missing.
//
// Operations at times that cannot be (implausible.h) count as missing.
// A step is whole if all workers are there and, at each stage, all replicas
// have the same number of operations of each kind, as many backwards as
// forwards and an optimizer if any has one. One that is not is held against
// the fullest worker of each stage that the trace holds: each operation that
// is missing begins when the one before it on its stream had ended and takes
// the mean of the worker's own in that step. A step that lacks more than a
// tenth is left out. Both are logged. Not thread-safe.
#ifndef PRISM_CORE_TRACE_REPLAY_MEND_H_
#define PRISM_CORE_TRACE_REPLAY_MEND_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trace/damage.h"
#include "core/trace/trace.h"

namespace prism::trace {

struct MendedStep {
  Step step;  // in order
  std::vector<bool> made_up;
};

class Mender {
 public:
  static constexpr double kMostMissing = 0.1;

  explicit Mender(const Sizes& sizes) : sizes_(sizes) {}

  // To be called for all steps before the first Mend.
  void Learn(const Step& step);

  // Nothing where the step cannot be used. `damage` may be null.
  std::optional<MendedStep> Mend(const Step& step, DamageLog* damage) const;

 private:
  bool IsWhole(const Step& step) const;

  Sizes sizes_;
  // By stage: the operations of its fullest worker by start.
  std::vector<std::vector<Operation>> fullest_;
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_MEND_H_
