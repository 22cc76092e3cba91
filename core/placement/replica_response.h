// ReplicaResponse: when the stages of one replica are done, by how slow each
// of them is.
//
// The end of a pipeline is convex and piecewise linear in its stages' times.
// It is evaluated as it stands, by running the schedule; sixteen replicas, or
// sixteen draws of one, cost one pass of vector instructions.
#ifndef PRISM_CORE_PLACEMENT_REPLICA_RESPONSE_H_
#define PRISM_CORE_PLACEMENT_REPLICA_RESPONSE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/placement/pipeline_kernel.h"
#include "core/placement/step_times.h"
#include "core/step/execution_plan.h"
#include "core/step/step_graph.h"

namespace prism::placement {

// The schedule with its times filled in.
using TimedPipeline = std::vector<PipelineOperation>;

// Immutable and thread-safe; a Workspace belongs to one thread.
class ReplicaResponse final {
 public:
  class Workspace {
    friend class ReplicaResponse;
    std::vector<float> slowdown_;
    std::vector<float> clock_;
    std::vector<float> arrivals_;
  };

  // Draws under which means are taken, in rows of kColumns: half of them with
  // all scores of the other half negated.
  static constexpr int kDrawRows = 4;

  // Takes the order of operations of `graph`; `random_key` names the draws.
  //
  // Errors: INVALID_ARGUMENT where the stages' orders wait for each other in a
  // circle.
  static absl::StatusOr<ReplicaResponse> Create(const step::StepGraph& graph,
                                                uint64_t random_key);

  // Requires: `times` are of a graph with the same order of operations.
  TimedPipeline Timed(const StepTimes& times) const;

  // Ends without chance of kColumns replicas: clock[stage * kColumns + c] under
  // slowdown[stage * kColumns + c].
  void Ends(const TimedPipeline& pipeline, const float* slowdown,
            Workspace& workspace, float* clock) const;

  // Mean end of each stage under the first `rows` rows of draws. Every replica
  // sees the same draws, so differences between replicas are sharper than the
  // means themselves. Requires: 1 <= rows <= kDrawRows.
  void MeanEnds(const TimedPipeline& pipeline,
                std::span<const float> slowdown_of_stage, int rows,
                Workspace& workspace, float* clock_of_stage) const;

  // Deviation of the end of the latest stage under all draws.
  double EndDeviation(const TimedPipeline& pipeline,
                      std::span<const float> slowdown_of_stage,
                      Workspace& workspace) const;

  int stages() const { return stages_; }
  // Operations of one pass.
  int64_t operations() const {
    return static_cast<int64_t>(plan_.operations.size());
  }

 private:
  ReplicaResponse() = default;

  void DrawScores(uint64_t random_key);
  void Prepare(Workspace& workspace) const;

  int stages_ = 1;
  int virtual_stages_ = 1;
  step::ExecutionPlan plan_;
  // [row][operation][column].
  std::vector<float> scores_;
};

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_REPLICA_RESPONSE_H_
