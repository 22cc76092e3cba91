// How far a micro-batch is on one virtual stage: which operation may come next.
#ifndef PRISM_CORE_STEP_PASS_PROGRESS_H_
#define PRISM_CORE_STEP_PASS_PROGRESS_H_

#include <cstdint>

#include "core/step/step_graph.h"

namespace prism::step {

enum class PassProgress : uint8_t {
  kNothing,
  kForward,        // has run, and nothing else
  kBackwardInput,  // has run; the weight part has not
  kDone,
};

// Moves `progress` on by an operation of `phase`; false where it has run
// already or before what it needs.
constexpr bool Advance(Phase phase, PassProgress& progress) {
  const auto from_to = [&](PassProgress from, PassProgress to) {
    if (progress != from) return false;
    progress = to;
    return true;
  };
  switch (phase) {
    case Phase::kForward:
      return from_to(PassProgress::kNothing, PassProgress::kForward);
    case Phase::kBackward:
      return from_to(PassProgress::kForward, PassProgress::kDone);
    case Phase::kBackwardInput:
      return from_to(PassProgress::kForward, PassProgress::kBackwardInput);
    case Phase::kBackwardWeight:
      return from_to(PassProgress::kBackwardInput, PassProgress::kDone);
  }
  return false;
}

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_PASS_PROGRESS_H_
