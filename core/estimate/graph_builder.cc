#include "core/estimate/graph_builder.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/estimate/timed_stretch.h"
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
  GraphBuilder(const workload::Job& job, const Cost& cost,
               const Variation& variation)
      : job_(job), cost_(cost), variation_(variation) {}

  absl::StatusOr<StepGraph> Build();

 private:
  void AddShape();
  void AddHops();
  void AddFactors();
  absl::Status AddOperations();
  absl::Status AddClosings();

  absl::StatusOr<std::vector<TimedStretch>> Timed(
      const Stretches& stretches) const;
  // Adds `stretches`, run `count` times, to the end of `program`.
  absl::Status AddSegment(const std::string& name, const Stretches& stretches,
                          int64_t count, Program& program);
  // Program of one virtual stage's forward or backward.
  absl::StatusOr<Program> Forward(int u);
  absl::StatusOr<Program> Backward(int u);
  // A transfer over the boundary behind `boundary` holds its sender up.
  void AddSend(int boundary, Program& program);
  absl::Status AddPrograms(step::Phase phase);

  void AddGradientReduction(int64_t stage, Segment& segment);
  absl::Status AddOptimizer(int64_t stage, Segment& segment);

  Task NetworkTask(const hardware::LinkTime& time, int group, Kind kind);
  int AddProgram(Program program);

  const workload::Job& job_;
  const Cost& cost_;
  const Variation& variation_;
  // By stage: to the next.
  std::vector<hardware::LinkTime> boundary_times_;
  // What the slowest GPU's compute takes longer than nominal, as long as nobody
  // measured any; RankSlowdowns() puts what was measured in its place.
  double slowest_gpu_ = 1;
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
  for (int64_t stage = 0; stage < cost_.boundaries(); ++stage) {
    boundary_times_.push_back(cost_.BoundaryTime(stage));
  }
  slowest_gpu_ = SlowestFactor(job_.parallelism.gpus(), variation_);
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

absl::StatusOr<std::vector<TimedStretch>> GraphBuilder::Timed(
    const Stretches& stretches) const {
  std::vector<TimedStretch> timed;
  for (const workload::Stretch& stretch : stretches) {
    const absl::StatusOr<double> seconds =
        cost_.OperatorSeconds(stretch.operators);
    if (!seconds.ok()) return seconds.status();
    TimedStretch& time = timed.emplace_back();
    time.seconds = slowest_gpu_ * *seconds;
    time.recompute = stretch.recompute;
    if (stretch.then) time.then = cost_.TensorTime(*stretch.then);
  }
  return timed;
}

absl::Status GraphBuilder::AddSegment(const std::string& name,
                                      const Stretches& stretches, int64_t count,
                                      Program& program) {
  const absl::StatusOr<std::vector<TimedStretch>> timed = Timed(stretches);
  if (!timed.ok()) return timed.status();
  Segment segment;
  segment.name = name;
  segment.count = count;
  for (const TimedStretch& stretch : JoinShortStretches(*timed)) {
    Task task;
    task.distribution = graph_.add_distribution(
        ComputeTime(stretch.seconds, variation_.compute_cv));
    task.kind = stretch.recompute ? kRecompute : kCompute;
    segment.tasks.push_back(task);
    if (stretch.then) {
      segment.tasks.push_back(
          NetworkTask(*stretch.then, kTensorGroup, kTensorCommunication));
    }
  }
  program.segments.push_back(std::move(segment));
  return absl::OkStatus();
}

absl::StatusOr<Program> GraphBuilder::Forward(int u) {
  const bool last = u == graph_.virtual_stages() - 1;
  Program program;
  absl::Status status;
  if (u == 0) {
    status = AddSegment("embedding", EmbeddingForward(job_), 1, program);
  }
  status.Update(AddSegment("layer", LayerForward(job_),
                           LayersPerVirtualStage(job_), program));
  if (last) status.Update(AddSegment("head", HeadForward(job_), 1, program));
  if (!status.ok()) return status;
  if (!last) AddSend(graph_.stage_of[static_cast<size_t>(u)], program);
  return program;
}

absl::StatusOr<Program> GraphBuilder::Backward(int u) {
  Program program;
  absl::Status status;
  if (u == graph_.virtual_stages() - 1) {
    status = AddSegment("head", HeadBackward(job_), 1, program);
  }
  status.Update(AddSegment("layer", LayerBackward(job_),
                           LayersPerVirtualStage(job_), program));
  if (u == 0) {
    status.Update(AddSegment("embedding", EmbeddingBackward(job_), 1, program));
  }
  if (!status.ok()) return status;
  if (u > 0) AddSend(graph_.stage_of[static_cast<size_t>(u - 1)], program);
  return program;
}

void GraphBuilder::AddSend(int boundary, Program& program) {
  const hardware::LinkTime& time =
      boundary_times_[static_cast<size_t>(boundary)];
  const bool gathered = StageBoundary(job_).gathered_bytes > 0;
  const int group = gathered ? kTensorGroup : step::kNoGroup;
  program.segments.push_back(
      {.name = "send",
       .tasks = {NetworkTask(time, group, kPipelineCommunication)}});
}

// Virtual stages between the first and the last that run on one stage share
// their program.
absl::Status GraphBuilder::AddPrograms(step::Phase phase) {
  const int stages = graph_.virtual_stages();
  std::vector<int>& program_of = graph_.program_of[static_cast<size_t>(phase)];
  std::map<int, int> program_of_stage;
  for (int u = 0; u < stages; ++u) {
    const bool inner = u > 0 && u < stages - 1;
    const int stage = graph_.stage_of[static_cast<size_t>(u)];
    if (inner && program_of_stage.contains(stage)) {
      program_of.push_back(program_of_stage[stage]);
      continue;
    }
    absl::StatusOr<Program> program =
        phase == step::Phase::kForward ? Forward(u) : Backward(u);
    if (!program.ok()) return program.status();
    program_of.push_back(AddProgram(*std::move(program)));
    if (inner) program_of_stage[stage] = program_of.back();
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

// The tasks that send are the whole way: what arrives has arrived.
void GraphBuilder::AddHops() {
  const int arrived =
      graph_.add_distribution(stats::Distribution::MakeConstant(0));
  const auto boundaries = static_cast<size_t>(graph_.virtual_stages() - 1);
  graph_.hop_kind = kPipelineCommunication;
  graph_.forward_hop.assign(boundaries, arrived);
  graph_.backward_hop.assign(boundaries, arrived);
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
  update.distribution = graph_.add_distribution(
      ComputeTime(slowest_gpu_ * *seconds, variation_.optimizer_cv));
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
}

}  // namespace

absl::StatusOr<StepGraph> BuildJobGraph(const workload::Job& job,
                                        const Cost& cost,
                                        const Variation& variation) {
  return GraphBuilder(job, cost, variation).Build();
}

}  // namespace prism::estimate
