#include "core/estimate/graph_builder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/step/schedule.h"
#include "core/workload/parameters.h"

namespace prism::estimate {
namespace {

using step::FactorClass;
using step::Program;
using step::Segment;
using step::StepGraph;
using step::Task;
using workload::Stretches;

// Indices into StepGraph::kinds and StepGraph::groups.
enum Kind {
  kCompute,
  kRecompute,
  kTensorCommunication,
  kPipelineCommunication,
  kDataCommunication,
  kOptimizer,
};

enum GroupIndex { kTensorGroup, kDataGroup };

step::ScheduleKind ScheduleOf(workload::Schedule schedule) {
  switch (schedule) {
    case workload::Schedule::kGpipe:
      return step::ScheduleKind::kGpipe;
    case workload::Schedule::kOneForwardOneBackward:
      return step::ScheduleKind::kOneForwardOneBackward;
    case workload::Schedule::kInterleaved:
      return step::ScheduleKind::kInterleaved;
  }
  return step::ScheduleKind::kOneForwardOneBackward;
}

class GraphBuilder final {
 public:
  GraphBuilder(const workload::Job& job, const hardware::Cluster& cluster,
               const Cost& cost, const Variation& variation)
      : job_(job), cluster_(cluster), cost_(cost), variation_(variation) {}

  absl::StatusOr<StepGraph> Build();

 private:
  void AddShape();
  void AddHops();
  void AddFactors();
  absl::Status AddOperations();
  absl::Status AddClosings();

  // Adds `stretches`, run `count` times, to the end of `program`.
  absl::Status AddSegment(const std::string& name, const Stretches& stretches,
                          int64_t count, Program& program);
  // Program of one virtual stage's forward or backward.
  absl::StatusOr<Program> Forward(bool first, bool last);
  absl::StatusOr<Program> Backward(bool first, bool last);
  absl::Status AddPrograms(step::Phase phase);

  void AddGradientReduction(int64_t stage, Segment& segment);
  absl::Status AddOptimizer(int64_t stage, Segment& segment);

  Task NetworkTask(const hardware::LinkTime& time, int group, Kind kind);
  int AddProgram(Program program);

  const workload::Job& job_;
  const hardware::Cluster& cluster_;
  const Cost& cost_;
  const Variation& variation_;
  StepGraph graph_;
};

absl::StatusOr<StepGraph> GraphBuilder::Build() {
  AddShape();
  if (absl::Status status = AddOperations(); !status.ok()) return status;
  AddHops();
  if (absl::Status status = AddClosings(); !status.ok()) return status;
  AddFactors();
  return std::move(graph_);
}

void GraphBuilder::AddShape() {
  const workload::Parallelism& parallelism = job_.parallelism;
  graph_.grid = {.replicas = static_cast<int>(parallelism.data),
                 .stages = static_cast<int>(parallelism.pipeline),
                 .lanes = static_cast<int>(parallelism.tensor)};
  graph_.microbatches = static_cast<int>(job_.microbatches());
  graph_.kinds = {"compute",
                  "recompute",
                  "tensor_communication",
                  "pipeline_communication",
                  "data_communication",
                  "optimizer"};
  graph_.groups = {
      {.lane_stride = 1, .lane_count = graph_.grid.lanes},
      {.replica_stride = 1, .replica_count = graph_.grid.replicas}};
  const auto chunks = static_cast<int>(parallelism.virtual_stages);
  graph_.stage_of.clear();
  for (int u = 0; u < graph_.grid.stages * chunks; ++u) {
    graph_.stage_of.push_back(u % graph_.grid.stages);
  }
  graph_.order =
      step::StageOrders(ScheduleOf(parallelism.schedule), graph_.grid.stages,
                        chunks, graph_.microbatches);
}

int GraphBuilder::AddProgram(Program program) {
  graph_.programs.push_back(std::move(program));
  return static_cast<int>(graph_.programs.size()) - 1;
}

Task GraphBuilder::NetworkTask(const hardware::LinkTime& time, int group,
                               Kind kind) {
  Task task;
  task.distribution = graph_.add_distribution(NetworkTime(time, variation_));
  task.factor_class = FactorClass::kNetwork;
  task.group = group;
  task.kind = kind;
  return task;
}

absl::Status GraphBuilder::AddSegment(const std::string& name,
                                      const Stretches& stretches, int64_t count,
                                      Program& program) {
  Segment segment;
  segment.name = name;
  segment.count = count;
  for (const workload::Stretch& stretch : stretches) {
    const absl::StatusOr<double> seconds =
        cost_.OperatorSeconds(stretch.operators);
    if (!seconds.ok()) return seconds.status();
    Task task;
    task.distribution =
        graph_.add_distribution(ComputeTime(*seconds, variation_.compute_cv));
    task.kind = stretch.recompute ? kRecompute : kCompute;
    segment.tasks.push_back(task);
    if (stretch.then) {
      segment.tasks.push_back(NetworkTask(cost_.TensorTime(*stretch.then),
                                          kTensorGroup, kTensorCommunication));
    }
  }
  program.segments.push_back(std::move(segment));
  return absl::OkStatus();
}

absl::StatusOr<Program> GraphBuilder::Forward(bool first, bool last) {
  Program program;
  absl::Status status;
  if (first) {
    status = AddSegment("embedding", EmbeddingForward(job_), 1, program);
  }
  status.Update(AddSegment("layer", LayerForward(job_),
                           LayersPerVirtualStage(job_), program));
  if (last) status.Update(AddSegment("head", HeadForward(job_), 1, program));
  if (!status.ok()) return status;
  return program;
}

absl::StatusOr<Program> GraphBuilder::Backward(bool first, bool last) {
  Program program;
  absl::Status status;
  if (last) status = AddSegment("head", HeadBackward(job_), 1, program);
  status.Update(AddSegment("layer", LayerBackward(job_),
                           LayersPerVirtualStage(job_), program));
  if (first) {
    status.Update(AddSegment("embedding", EmbeddingBackward(job_), 1, program));
  }
  if (!status.ok()) return status;
  return program;
}

// Virtual stages but the first and the last share one program.
absl::Status GraphBuilder::AddPrograms(step::Phase phase) {
  const int stages = graph_.virtual_stages();
  std::vector<int>& program_of = graph_.program_of[static_cast<size_t>(phase)];
  int middle = -1;
  for (int u = 0; u < stages; ++u) {
    const bool first = u == 0;
    const bool last = u == stages - 1;
    if (!first && !last && middle >= 0) {
      program_of.push_back(middle);
      continue;
    }
    absl::StatusOr<Program> program = phase == step::Phase::kForward
                                          ? Forward(first, last)
                                          : Backward(first, last);
    if (!program.ok()) return program.status();
    program_of.push_back(AddProgram(*std::move(program)));
    if (!first && !last) middle = program_of.back();
  }
  return absl::OkStatus();
}

absl::Status GraphBuilder::AddOperations() {
  absl::Status status = AddPrograms(step::Phase::kForward);
  status.Update(AddPrograms(step::Phase::kBackward));
  graph_.program_of[static_cast<size_t>(step::Phase::kBackwardWeight)].assign(
      graph_.stage_of.size(), -1);
  return status;
}

// A boundary's draw has the mean of its slowest replica; the others keep a
// factor below 1.
void GraphBuilder::AddHops() {
  const int boundaries = graph_.virtual_stages() - 1;
  graph_.hop_kind = kPipelineCommunication;
  bool equal = true;
  for (int u = 0; u < boundaries; ++u) {
    std::vector<hardware::LinkTime> times;
    for (int replica = 0; replica < graph_.grid.replicas; ++replica) {
      times.push_back(cost_.BoundaryTime(graph_.stage_of[u], replica));
    }
    const hardware::LinkTime slowest = *std::max_element(
        times.begin(), times.end(),
        [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    const int hop = graph_.add_distribution(NetworkTime(slowest, variation_));
    graph_.forward_hop.push_back(hop);
    graph_.backward_hop.push_back(hop);
    for (const hardware::LinkTime& time : times) {
      const double factor = time.seconds / slowest.seconds;
      graph_.hop_factor.push_back(factor);
      equal = equal && factor == 1;
    }
  }
  if (equal) graph_.hop_factor.clear();
}

void GraphBuilder::AddGradientReduction(int64_t stage, Segment& segment) {
  const double parameters = StageParameters(job_, stage);
  const double gradients = parameters * GradientBytes(job_.training);
  const bool sharded = job_.parallelism.sharding == workload::Sharding::kZero1;
  const auto kind = sharded ? hardware::CollectiveKind::kReduceScatter
                            : hardware::CollectiveKind::kAllReduce;
  segment.tasks.push_back(NetworkTask(cost_.DataTime(kind, gradients, stage),
                                      kDataGroup, kDataCommunication));
  const bool holds_embedding = stage == 0 || HoldsTiedCopy(job_, stage);
  if (!holds_embedding || !HoldsTiedCopy(job_, job_.parallelism.pipeline - 1)) {
    return;
  }
  const double embedding = EmbeddingParameters(job_.model).split /
                           static_cast<double>(job_.parallelism.tensor) *
                           GradientBytes(job_.training);
  segment.tasks.push_back(NetworkTask(cost_.TiedCopyTime(embedding),
                                      step::kNoGroup, kDataCommunication));
}

absl::Status GraphBuilder::AddOptimizer(int64_t stage, Segment& segment) {
  const double parameters = StageParameters(job_, stage);
  const bool sharded = job_.parallelism.sharding == workload::Sharding::kZero1;
  const double owned =
      sharded ? parameters / static_cast<double>(job_.parallelism.data)
              : parameters;
  const absl::StatusOr<double> seconds =
      cost_.OperatorSeconds(OptimizerUpdate(job_, parameters, owned));
  if (!seconds.ok()) return seconds.status();
  Task update;
  update.distribution =
      graph_.add_distribution(ComputeTime(*seconds, variation_.optimizer_cv));
  update.factor_class = FactorClass::kOptimizer;
  update.kind = kOptimizer;
  segment.tasks.push_back(update);
  if (sharded) {
    const double weights = parameters * ActivationBytes(job_.training);
    segment.tasks.push_back(NetworkTask(
        cost_.DataTime(hardware::CollectiveKind::kAllGather, weights, stage),
        kDataGroup, kDataCommunication));
  }
  return absl::OkStatus();
}

absl::Status GraphBuilder::AddClosings() {
  for (int stage = 0; stage < graph_.grid.stages; ++stage) {
    Segment segment;
    segment.name = "update";
    AddGradientReduction(stage, segment);
    if (absl::Status status = AddOptimizer(stage, segment); !status.ok()) {
      return status;
    }
    graph_.closing.push_back(AddProgram({.segments = {std::move(segment)}}));
  }
  return absl::OkStatus();
}

void GraphBuilder::AddFactors() {
  if (variation_.step_cv > 0) {
    step::SharedFactor factor;
    factor.distribution =
        stats::Distribution::MakeNormal(1, variation_.step_cv);
    factor.scope = step::FactorScope::kStep;
    factor.applies_to[static_cast<size_t>(FactorClass::kCompute)] = true;
    factor.applies_to[static_cast<size_t>(FactorClass::kOptimizer)] = true;
    graph_.shared_factors.push_back(factor);
  }
  if (cluster_.node_states.empty()) return;
  std::vector<double> slowdown_of(static_cast<size_t>(cluster_.nodes), 1);
  for (const hardware::NodeState& state : cluster_.node_states) {
    slowdown_of[static_cast<size_t>(state.node)] = state.slowdown;
  }
  const step::RankGrid& grid = graph_.grid;
  for (int replica = 0; replica < grid.replicas; ++replica) {
    for (int stage = 0; stage < grid.stages; ++stage) {
      for (int lane = 0; lane < grid.lanes; ++lane) {
        const int64_t node = cost_.ranks().Node(replica, stage, lane);
        graph_.slowdown.push_back(slowdown_of[static_cast<size_t>(node)]);
      }
    }
  }
}

}  // namespace

absl::StatusOr<StepGraph> BuildJobGraph(const workload::Job& job,
                                        const hardware::Cluster& cluster,
                                        const Cost& cost,
                                        const Variation& variation) {
  return GraphBuilder(job, cluster, cost, variation).Build();
}

}  // namespace prism::estimate
