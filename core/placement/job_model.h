// JobModel: one job on one cluster, made ready for comparing its placements.
//
// Knows which nodes lie where and how slow they are, and keeps the times of
// every way of communicating that it has met: placements that communicate
// alike share them, and graphs are built for new ways alone.
#ifndef PRISM_CORE_PLACEMENT_JOB_MODEL_H_
#define PRISM_CORE_PLACEMENT_JOB_MODEL_H_

#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/estimate/placement_shape.h"
#include "core/hardware/cluster.h"
#include "core/hardware/path_factors.h"
#include "core/placement/fabric_units.h"
#include "core/placement/layout.h"
#include "core/placement/replica_response.h"
#include "core/placement/step_times.h"
#include "core/step/step_graph.h"
#include "core/workload/job.h"

namespace prism::placement {

// Nodes of a job by position: ranks fill them in this order.
using NodeList = std::vector<int64_t>;

// How a placement communicates.
struct Communication {
  int pipeline = 0;                  // index of JobModel::pipeline()
  std::vector<ClosingTime> closing;  // by stage

  bool operator==(const Communication&) const = default;
};

// Not thread-safe: one per request.
class JobModel final {
 public:
  // Requires: `job` and `cluster` are valid and fit each other; `cluster`
  // outlives it.
  //
  // Errors: those of estimate::BuildEstimate.
  static absl::StatusOr<std::unique_ptr<JobModel>> Create(
      const workload::Job& job, const hardware::Cluster& cluster,
      uint64_t random_key);

  JobModel(const JobModel&) = delete;
  JobModel& operator=(const JobModel&) = delete;

  // The graph of the job on `nodes`, as it is predicted.
  absl::StatusOr<step::StepGraph> Graph(const NodeList& nodes) const;

  // Errors: those of estimate::BuildShapeEstimate.
  absl::StatusOr<Communication> CommunicationOf(const NodeList& nodes);

  // As if every group lay in as few units of each level as can hold it, or,
  // part by part, as in the best way met so far: no placement communicates
  // faster, as far as a group in fewer units does not.
  absl::StatusOr<Communication> BestCommunication();

  const TimedPipeline& pipeline(int index) const { return pipelines_[index]; }

  // By position: factor of the node on what the graph assumes of its GPUs.
  // `measured` is by node of the cluster; estimate::kNotMeasured where nobody
  // measured.
  void PositionSlowdowns(std::span<const int64_t> nodes,
                         std::span<const double> measured,
                         std::vector<double>& slowdown) const;

  // Slowdown of a cell whose seats have these factors: of its slowest lane,
  // nearly (docs/model/placement.md).
  double CellSlowdown(int replica, int stage,
                      std::span<const double> position_slowdown) const;

  const workload::Job& job() const { return job_; }
  const hardware::Cluster& cluster() const { return cluster_; }
  const Layout& layout() const { return layout_; }
  const ReplicaResponse& response() const { return *response_; }
  const FabricUnits& units() const { return units_; }
  // By node, estimate::MeasuredSlowdowns.
  const std::vector<double>& measured() const { return measured_; }
  // What the graph assumes of every GPU, over nominal.
  double assumed_slowdown() const { return assumed_slowdown_; }
  uint64_t random_key() const { return random_key_; }

 private:
  JobModel(const workload::Job& job, const hardware::Cluster& cluster,
           uint64_t random_key);

  // What the operations over one boundary depend on; the last boundary is that
  // of operations without one.
  struct OperationsKey {
    int boundary = 0;
    std::vector<estimate::PlacedGroup> tensor_groups;
    std::vector<estimate::PlacedGroup> context_groups;
    // Where data groups meet in operations; by stage.
    std::vector<std::vector<estimate::PlacedGroup>> data_groups;
    std::vector<std::vector<estimate::PlacedGroup>> shard_groups;
    std::vector<std::vector<estimate::PlacedGroup>> shard_copies;
    std::vector<estimate::PlacedHop> hops;

    auto operator<=>(const OperationsKey&) const = default;
  };
  // What a stage's closing depends on.
  struct ClosingKey {
    int stage = 0;
    std::vector<estimate::PlacedGroup> data_groups;
    std::vector<estimate::PlacedGroup> shard_groups;
    std::vector<estimate::PlacedGroup> shard_copies;
    std::vector<estimate::PlacedGroup> tied_copies;
    std::vector<estimate::PlacedGroup> twins;

    auto operator<=>(const ClosingKey&) const = default;
  };

  estimate::PlacementShape ShapeOf(const NodeList& nodes) const;
  OperationsKey KeyOfOperations(const estimate::PlacementShape& shape,
                                int boundary) const;
  ClosingKey KeyOfClosing(const estimate::PlacementShape& shape,
                          int stage) const;
  bool Knows(const estimate::PlacementShape& shape) const;
  // Times of all parts of a shape, taken from its graph.
  absl::Status Learn(const estimate::PlacementShape& shape);
  Communication Assemble(const estimate::PlacementShape& shape);
  // Boundary behind virtual stage `u`, or stages() where there is none.
  int BoundaryBehind(size_t u) const;
  // Boundary whose transfer an operation contains, or stages().
  int BoundaryOf(size_t operation) const;

  const workload::Job job_;
  const hardware::Cluster& cluster_;
  uint64_t random_key_;
  Layout layout_;
  FabricUnits units_;
  hardware::Fabric fabric_;
  hardware::PathFactors paths_;
  std::vector<double> measured_;
  double assumed_slowdown_ = 1;
  std::unique_ptr<ReplicaResponse> response_;
  // Times of the first graph: whatever does not depend on the placement.
  StepTimes times_;

  // Times of the operations over one boundary, in their order.
  std::map<OperationsKey, std::vector<OperationTime>> operations_;
  // Of transfers over the boundary that hold nobody up.
  std::map<OperationsKey, double> hops_;
  std::map<ClosingKey, ClosingTime> closings_;
  std::map<std::vector<OperationsKey>, int> pipeline_of_;
  std::vector<TimedPipeline> pipelines_;
  absl::flat_hash_map<estimate::PlacementShape, Communication> known_;
};

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_JOB_MODEL_H_
