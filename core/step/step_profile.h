// StepProfile: the most direct front end of the step graph.
//
// Latency distributions of the operators of one step, in milliseconds, with
// the semantics of docs/step-profile.md. Plain values; query builds them from
// messages and checks every range.
#ifndef PRISM_CORE_STEP_STEP_PROFILE_H_
#define PRISM_CORE_STEP_STEP_PROFILE_H_

#include <cstdint>
#include <optional>
#include <string>
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
  // The next run of a segment computes beside the collective; not with kData.
  bool overlap = false;
  // Communication of each run on the data stream, ms: parameters gathered
  // before its computation, gradients scattered behind it, and those reduced
  // between the copies of a shard (only with `scatter`). Absent: none.
  std::optional<stats::Distribution> gather = std::nullopt;
  std::optional<stats::Distribution> scatter = std::nullopt;
  std::optional<stats::Distribution> reduce = std::nullopt;
  std::string name = {};  // for people
};

struct StepProfile {
  // Sizes, at least 1.
  int data = 1;
  int pipeline = 1;
  int tensor = 1;
  int virtual_stages = 1;  // chunks per stage
  int microbatches = 1;
  ScheduleKind schedule = ScheduleKind::kOneForwardOneBackward;

  std::vector<ProfileSegment> forward;  // at least one
  // Either the whole backward, or both its parts: at least one segment each.
  // A schedule or an order that runs the parts apart needs the parts.
  std::vector<ProfileSegment> backward;
  std::vector<ProfileSegment> backward_input, backward_weight;
  // For kCustom alone: operations by stage, and the stage of every virtual
  // stage (empty: u mod pipeline). Together they pass Validate().
  std::vector<std::vector<Operation>> order;
  std::vector<int> stage_of;
  // For kAutomatic alone: most micro-batches whose activations a stage keeps,
  // at least 1. Unset: what 1f1b keeps.
  std::optional<double> activation_limit;
  // By virtual stage, above 0; empty: all 1.
  std::vector<double> stage_scale;
  stats::Distribution transfer;       // ms
  stats::Distribution gradient_sync;  // ms
  stats::Distribution optimizer;      // ms
  // Of kRoundRobin alone: a worker's parameters for one execution.
  stats::Distribution weight_upload;  // ms
  // Factors.
  stats::Distribution compute_regime = stats::Distribution::MakeConstant(1);
  stats::Distribution network_regime = stats::Distribution::MakeConstant(1);
  stats::Distribution microbatch_load = stats::Distribution::MakeConstant(1);
  // Replicas that share one copy of the parameters; divides `data`. 0: all.
  int shard = 0;
  // Gathers are issued so many gathering runs ahead; at least 0.
  int64_t prefetch = 0;
  // Gathers run in the first operation of a phase on a virtual stage alone,
  // scatters and reductions in the last.
  bool gather_once = false;
  bool scatter_once = false;
  double overlap_slowdown = 1;  // at least 1
  // (rank, factor above 0), by rank, each once; others have 1.
  std::vector<std::pair<int64_t, double>> slowdown;

  PipelineShape shape() const {
    return {pipeline, virtual_stages, microbatches};
  }
  bool uploads_weights() const {
    return !weight_upload.IsConstant() || weight_upload.Mean() > 0;
  }
  int64_t ranks() const {
    return static_cast<int64_t>(data) * pipeline * tensor;
  }
};

// The order in which its stages run their operations: the schedule's, the given
// one or, for kAutomatic, the one found for the stated means of its operations
// with stage_scale and without slowdowns.
//
// Requires: the schedule is not continuous.
// Errors: INVALID_ARGUMENT where the schedule does not take the shape or the
// given order is not valid.
absl::StatusOr<PipelineOrder> OrderOf(const StepProfile& profile);

// The step graph of `profile`, in seconds.
//
// Requires: the ranges above hold and OrderOf() has an order or, of a
// continuous schedule, MakeRun() a run.
StepGraph BuildGraph(const StepProfile& profile);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_STEP_PROFILE_H_
