#include "core/placement/job_model.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/estimate/estimate.h"
#include "core/estimate/rank_slowdown.h"
#include "core/estimate/variation.h"
#include "core/placement/normal_maximum.h"
#include "core/workload/stages.h"

namespace prism::placement {
namespace {

// The first nodes of the cluster.
NodeList FirstNodes(int count) {
  NodeList nodes(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) nodes[i] = i;
  return nodes;
}

const hardware::Accelerator& AcceleratorOf(const hardware::Cluster& cluster) {
  const hardware::Accelerator* found =
      hardware::FindAccelerator(cluster.accelerator);
  PRISM_CHECK(found != nullptr);
  return *found;
}

// The innermost level that holds more than a node.
size_t OutsideLevel(const hardware::Fabric& fabric) {
  size_t level = 0;
  while (level + 1 < fabric.levels().size() &&
         fabric.levels()[level].gpus <= fabric.gpus_per_node()) {
    ++level;
  }
  return level;
}

// The group in as few units of each level as can hold it, and alike in all of
// them; no slow paths.
void Gather(const FabricUnits& units, const hardware::Fabric& fabric,
            std::vector<estimate::PlacedGroup>& groups) {
  const size_t outside = OutsideLevel(fabric);
  for (estimate::PlacedGroup& group : groups) {
    hardware::GroupShape& shape = group.shape;
    const int64_t in_node =
        outside > 0 ? shape.in_unit[outside - 1] : fabric.gpus_per_node();
    for (size_t level = outside; level < shape.in_unit.size(); ++level) {
      shape.in_unit[level] = shape.members;
    }
    for (int level = 0; level < units.levels(); ++level) {
      const int64_t held = units.LargestUnit(level) * in_node;
      const int64_t needed = (shape.members + held - 1) / held;
      shape.in_unit[units.FabricLevel(level)] = shape.members / needed;
    }
    group.path_factor = std::min(1.0, group.path_factor);
  }
}

// The shape with every group and hop as near as it can be by itself.
estimate::PlacementShape Together(estimate::PlacementShape shape,
                                  const FabricUnits& units,
                                  const hardware::Fabric& fabric) {
  Gather(units, fabric, shape.tensor_groups);
  Gather(units, fabric, shape.context_groups);
  Gather(units, fabric, shape.tied_copies);
  for (auto& groups : shape.twins) Gather(units, fabric, groups);
  for (auto& groups : shape.shard_groups) Gather(units, fabric, groups);
  for (auto& groups : shape.shard_copies) Gather(units, fabric, groups);
  for (auto& groups : shape.data_groups) Gather(units, fabric, groups);
  const auto outside = static_cast<int>(OutsideLevel(fabric));
  for (auto& hops : shape.boundaries) {
    for (estimate::PlacedHop& hop : hops) {
      hop.level = std::min(hop.level, outside);
      hop.path_factor = std::min(1.0, hop.path_factor);
    }
  }
  return shape;
}

}  // namespace

JobModel::JobModel(const workload::Job& job, const hardware::Cluster& cluster,
                   uint64_t random_key)
    : job_(job),
      cluster_(cluster),
      random_key_(random_key),
      layout_(job.parallelism, cluster.gpus_per_node),
      units_(cluster),
      fabric_(cluster, AcceleratorOf(cluster)),
      paths_(cluster.path_states),
      measured_(estimate::MeasuredSlowdowns(cluster)),
      assumed_slowdown_(estimate::SlowestFactor(job.parallelism.gpus(),
                                                estimate::Variation{})) {}

absl::StatusOr<std::unique_ptr<JobModel>> JobModel::Create(
    const workload::Job& job, const hardware::Cluster& cluster,
    uint64_t random_key) {
  std::unique_ptr<JobModel> model(new JobModel(job, cluster, random_key));
  const NodeList nodes = FirstNodes(model->layout_.positions());
  const absl::StatusOr<step::StepGraph> graph = model->Graph(nodes);
  if (!graph.ok()) return graph.status();
  auto response = ReplicaResponse::Create(*graph, random_key);
  if (!response.ok()) return response.status();
  model->response_ = std::make_unique<ReplicaResponse>(*std::move(response));
  model->times_ = TimesOf(*graph);
  return model;
}

absl::StatusOr<step::StepGraph> JobModel::Graph(const NodeList& nodes) const {
  auto estimate = estimate::BuildEstimate(job_, cluster_, {.nodes = nodes});
  if (!estimate.ok()) return estimate.status();
  return std::move(estimate->graph);
}

estimate::PlacementShape JobModel::ShapeOf(const NodeList& nodes) const {
  return estimate::ShapeOf(
      estimate::RankMap(job_.parallelism, cluster_, {.nodes = nodes}), fabric_,
      paths_);
}

JobModel::OperationsKey JobModel::KeyOfOperations(
    const estimate::PlacementShape& shape, int boundary) const {
  OperationsKey key;
  key.boundary = boundary;
  key.tensor_groups = shape.tensor_groups;
  key.context_groups = shape.context_groups;
  if (job_.parallelism.sharding >= workload::Sharding::kZero2) {
    key.data_groups = shape.data_groups;
    key.shard_groups = shape.shard_groups;
    key.shard_copies = shape.shard_copies;
  }
  if (boundary < static_cast<int>(shape.boundaries.size())) {
    key.hops = shape.boundaries[boundary];
  }
  return key;
}

JobModel::ClosingKey JobModel::KeyOfClosing(
    const estimate::PlacementShape& shape, int stage) const {
  ClosingKey key;
  key.stage = stage;
  key.data_groups = shape.data_groups[stage];
  if (!shape.shard_groups.empty()) {
    key.shard_groups = shape.shard_groups[stage];
    key.shard_copies = shape.shard_copies[stage];
  }
  if (stage == 0 || stage == layout_.stages() - 1) {
    key.tied_copies = shape.tied_copies;
  }
  if (!shape.twins.empty()) key.twins = shape.twins[stage];
  return key;
}

int JobModel::BoundaryBehind(size_t u) const {
  const int64_t boundary =
      workload::BoundaryBehind(job_.parallelism, static_cast<int64_t>(u));
  return boundary == workload::kNoBoundary ? layout_.stages()
                                           : static_cast<int>(boundary);
}

int JobModel::BoundaryOf(size_t operation) const {
  const size_t virtual_stages = times_.forward_hop.size() + 1;
  const size_t u = operation % virtual_stages;
  switch (static_cast<step::Phase>(operation / virtual_stages)) {
    case step::Phase::kForward:
      return BoundaryBehind(u);
    case step::Phase::kBackward:
    case step::Phase::kBackwardInput:
      return u > 0 ? BoundaryBehind(u - 1) : layout_.stages();
    case step::Phase::kBackwardWeight:
      return layout_.stages();
  }
  return layout_.stages();
}

bool JobModel::Knows(const estimate::PlacementShape& shape) const {
  for (int b = 0; b <= layout_.stages(); ++b) {
    if (!operations_.contains(KeyOfOperations(shape, b))) return false;
  }
  for (int s = 0; s < layout_.stages(); ++s) {
    if (!closings_.contains(KeyOfClosing(shape, s))) return false;
  }
  return true;
}

absl::Status JobModel::Learn(const estimate::PlacementShape& shape) {
  const auto estimate = estimate::BuildShapeEstimate(job_, cluster_, shape);
  if (!estimate.ok()) return estimate.status();
  const StepTimes times = TimesOf(estimate->graph);
  std::vector<std::vector<OperationTime>> over(layout_.stages() + 1);
  for (size_t i = 0; i < times.operations.size(); ++i) {
    over[BoundaryOf(i)].push_back(times.operations[i]);
  }
  for (int b = 0; b <= layout_.stages(); ++b) {
    const OperationsKey key = KeyOfOperations(shape, b);
    operations_.try_emplace(key, std::move(over[b]));
    const bool leads_on = b < static_cast<int>(shape.boundaries.size());
    hops_.try_emplace(key, leads_on ? times.forward_hop[b] : 0);
  }
  for (int s = 0; s < layout_.stages(); ++s) {
    closings_.try_emplace(KeyOfClosing(shape, s), times.closing[s]);
  }
  return absl::OkStatus();
}

Communication JobModel::Assemble(const estimate::PlacementShape& shape) {
  std::vector<OperationsKey> keys;
  for (int b = 0; b <= layout_.stages(); ++b) {
    keys.push_back(KeyOfOperations(shape, b));
  }
  Communication communication;
  const auto [entry, is_new] = pipeline_of_.try_emplace(
      std::move(keys), static_cast<int>(pipelines_.size()));
  communication.pipeline = entry->second;
  if (is_new) {
    StepTimes times = times_;
    std::vector<const OperationTime*> next;
    for (const OperationsKey& key : entry->first) {
      next.push_back(operations_.at(key).data());
    }
    for (size_t i = 0; i < times.operations.size(); ++i) {
      times.operations[i] = *next[BoundaryOf(i)]++;
    }
    for (size_t u = 0; u < times.forward_hop.size(); ++u) {
      times.forward_hop[u] = hops_.at(entry->first[BoundaryBehind(u)]);
    }
    times.backward_hop = times.forward_hop;
    pipelines_.push_back(response_->Timed(times));
  }
  for (int s = 0; s < layout_.stages(); ++s) {
    communication.closing.push_back(closings_.at(KeyOfClosing(shape, s)));
  }
  return communication;
}

absl::StatusOr<Communication> JobModel::CommunicationOf(const NodeList& nodes) {
  estimate::PlacementShape shape = ShapeOf(nodes);
  const auto known = known_.find(shape);
  if (known != known_.end()) return known->second;
  if (!Knows(shape)) {
    if (absl::Status status = Learn(shape); !status.ok()) return status;
  }
  Communication communication = Assemble(shape);
  known_.emplace(std::move(shape), communication);
  return communication;
}

absl::StatusOr<Communication> JobModel::BestCommunication() {
  const estimate::PlacementShape shape =
      Together(ShapeOf(FirstNodes(layout_.positions())), units_, fabric_);
  if (!Knows(shape)) {
    if (absl::Status status = Learn(shape); !status.ok()) return status;
  }
  StepTimes times = times_;
  std::vector<std::vector<OperationTime>> best(layout_.stages() + 1);
  for (const auto& [key, operations] : operations_) {
    auto& least = best[key.boundary];
    if (least.empty()) least = operations;
    for (size_t i = 0; i < least.size(); ++i) {
      least[i].network = std::min(least[i].network, operations[i].network);
    }
  }
  std::vector<size_t> next(best.size(), 0);
  for (size_t i = 0; i < times.operations.size(); ++i) {
    const int boundary = BoundaryOf(i);
    times.operations[i] = best[boundary][next[boundary]++];
  }
  for (const auto& [key, hop] : hops_) {
    if (key.boundary == layout_.stages()) continue;
    for (size_t u = 0; u < times.forward_hop.size(); ++u) {
      if (BoundaryBehind(u) != key.boundary) continue;
      times.forward_hop[u] = std::min(times.forward_hop[u], hop);
    }
  }
  times.backward_hop = times.forward_hop;
  Communication communication;
  communication.pipeline = static_cast<int>(pipelines_.size());
  pipelines_.push_back(response_->Timed(times));
  communication.closing = times_.closing;
  for (const auto& [key, closing] : closings_) {
    double& network = communication.closing[key.stage].network;
    network = std::min(network, closing.network);
  }
  return communication;
}

void JobModel::PositionSlowdowns(std::span<const int64_t> nodes,
                                 std::span<const double> measured,
                                 std::vector<double>& slowdown) const {
  int64_t left = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (measured[nodes[i]] == estimate::kNotMeasured) {
      left += layout_.GpusAt(static_cast<int>(i));
    }
  }
  const double prior =
      left == 0 ? 1 : estimate::SlowestFactor(left, estimate::Variation{});
  slowdown.resize(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const double factor = measured[nodes[i]];
    slowdown[i] =
        (factor == estimate::kNotMeasured ? prior : factor) / assumed_slowdown_;
  }
}

double JobModel::CellSlowdown(int replica, int stage,
                              std::span<const double> position_slowdown) const {
  const auto cell = layout_.Cell(replica, stage);
  double slowest = 0, fastest = position_slowdown[cell.front().position];
  for (const Seat& seat : cell) {
    slowest = std::max(slowest, position_slowdown[seat.position]);
    fastest = std::min(fastest, position_slowdown[seat.position]);
  }
  if (slowest == fastest || times_.lane_cv <= 0) return slowest;
  // The graph's compute is that of the latest of equal lanes.
  std::vector<EqualNormals> lanes;
  for (const Seat& seat : cell) {
    lanes.push_back({.mean = position_slowdown[seat.position],
                     .count = static_cast<double>(seat.ranks)});
  }
  const EqualNormals equal = {.mean = 1,
                              .count = static_cast<double>(layout_.lanes())};
  return MaximumOfNormals(lanes, times_.lane_cv * slowest).mean /
         MaximumOfNormals({&equal, 1}, times_.lane_cv).mean;
}

}  // namespace prism::placement
