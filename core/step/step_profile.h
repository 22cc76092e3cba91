// StepProfile: the most direct front end of the step graph.
//
// Latency distributions of the operators of one step, in milliseconds, with
// the semantics of docs/step-profile.md. Plain values; query builds them from
// messages and checks every range.
#ifndef PRISM_CORE_STEP_STEP_PROFILE_H_
#define PRISM_CORE_STEP_STEP_PROFILE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/stats/distribution.h"
#include "core/step/schedule.h"
#include "core/step/step_graph.h"

namespace prism::step {

enum class Sync { kNone, kTensor, kData };

struct ProfileSegment {
  stats::Distribution compute;     // ms
  stats::Distribution collective;  // ms
  Sync sync = Sync::kNone;         // kData only where pipeline is 1
  int64_t count = 1;               // at least 1
};

struct StepProfile {
  // Sizes, at least 1.
  int data = 1;
  int pipeline = 1;
  int tensor = 1;
  int virtual_stages = 1;  // chunks per stage; above 1 for kInterleaved alone
  int microbatches = 1;
  ScheduleKind schedule = ScheduleKind::kOneForwardOneBackward;

  std::vector<ProfileSegment> forward;   // at least one
  std::vector<ProfileSegment> backward;  // at least one
  // By virtual stage, above 0; empty: all 1.
  std::vector<double> stage_scale;
  stats::Distribution transfer;       // ms
  stats::Distribution gradient_sync;  // ms
  stats::Distribution optimizer;      // ms
  // Factors.
  stats::Distribution compute_regime = stats::Distribution::MakeConstant(1);
  stats::Distribution network_regime = stats::Distribution::MakeConstant(1);
  stats::Distribution microbatch_load = stats::Distribution::MakeConstant(1);
  // (rank, factor above 0), by rank, each once; others have 1.
  std::vector<std::pair<int64_t, double>> slowdown;

  int64_t ranks() const {
    return static_cast<int64_t>(data) * pipeline * tensor;
  }
};

// The step graph of `profile`, in seconds.
//
// Requires: the ranges above hold, and interleaved has pipeline > 1 and
// microbatches divisible by pipeline.
StepGraph BuildGraph(const StepProfile& profile);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_STEP_PROFILE_H_
