#include "core/estimate/graph_builder.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/estimate/step_costs.h"
#include "core/step/schedule.h"

namespace prism::estimate {
namespace {

using step::FactorClass;
using step::Program;
using step::Segment;
using step::StepGraph;
using step::Task;

// Indices into StepGraph::groups.
constexpr int kTensorGroup = 0;
constexpr int kDataGroup = 1;

int GroupOf(Meeting meeting) {
  switch (meeting) {
    case Meeting::kNobody:
      return step::kNoGroup;
    case Meeting::kLanes:
      return kTensorGroup;
    case Meeting::kReplicas:
      return kDataGroup;
  }
  return step::kNoGroup;
}

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
  void AddOperations(const ModelCosts& model);
  absl::Status AddClosings();

  Task TaskOf(const CostedTask& costed);
  Segment SegmentOf(const std::string& name, const CostedTasks& tasks,
                    int64_t count = 1);
  // Program of one virtual stage's forward or backward.
  Program Forward(const ModelCosts& model, int u);
  Program Backward(const ModelCosts& model, int u);
  // A transfer over the boundary behind `stage` holds its sender up.
  void AddSend(int stage, Program& program);
  void AddPrograms(step::Phase phase, const ModelCosts& model);
  int AddProgram(Program program);

  const workload::Job& job_;
  const Cost& cost_;
  const Variation& variation_;
  // By stage: to the next.
  std::vector<CostedTask> transfers_;
  // What the slowest GPU's compute takes longer than nominal, as long as nobody
  // measured any; RankSlowdowns() puts what was measured in its place.
  double slowest_gpu_ = 1;
  StepGraph graph_;
};

absl::StatusOr<StepGraph> GraphBuilder::Build() {
  AddShape();
  const absl::StatusOr<ModelCosts> model =
      CostOfModel(job_, cost_, slowest_gpu_);
  if (!model.ok()) return model.status();
  AddOperations(*model);
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
  graph_.kinds = TaskKindNames();
  graph_.groups = {
      {.lane_stride = 1, .lane_count = graph_.grid.lanes},
      {.replica_stride = 1, .replica_count = graph_.grid.replicas}};
  const auto chunks = static_cast<int>(parallelism.virtual_stages);
  graph_.stage_of.clear();
  for (int u = 0; u < graph_.grid.stages * chunks; ++u) {
    graph_.stage_of.push_back(u % graph_.grid.stages);
  }
  for (int64_t stage = 0; stage < cost_.boundaries(); ++stage) {
    transfers_.push_back(CostOfTransfer(job_, cost_, stage));
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

Task GraphBuilder::TaskOf(const CostedTask& costed) {
  Task task;
  task.kind = static_cast<int>(costed.kind);
  task.group = GroupOf(costed.meeting);
  if (!IsOwnWork(costed.kind)) {
    task.factor_class = FactorClass::kNetwork;
    task.distribution =
        graph_.add_distribution(NetworkTime(costed.time, variation_));
    return task;
  }
  const bool optimizer = costed.kind == TaskKind::kOptimizer;
  if (optimizer) task.factor_class = FactorClass::kOptimizer;
  task.distribution = graph_.add_distribution(
      ComputeTime(costed.time.seconds,
                  optimizer ? variation_.optimizer_cv : variation_.compute_cv));
  return task;
}

Segment GraphBuilder::SegmentOf(const std::string& name,
                                const CostedTasks& tasks, int64_t count) {
  Segment segment = {.name = name, .tasks = {}, .count = count};
  for (const CostedTask& task : tasks) segment.tasks.push_back(TaskOf(task));
  return segment;
}

Program GraphBuilder::Forward(const ModelCosts& model, int u) {
  const StageParts parts = PartsOf(job_, u);
  Program program;
  if (parts.embedding) {
    program.segments.push_back(SegmentOf("embedding", model.embedding.forward));
  }
  program.segments.push_back(
      SegmentOf("layer", model.layer.forward, parts.layers));
  if (parts.head) {
    program.segments.push_back(SegmentOf("head", model.head.forward));
  } else {
    AddSend(graph_.stage_of[static_cast<size_t>(u)], program);
  }
  return program;
}

Program GraphBuilder::Backward(const ModelCosts& model, int u) {
  const StageParts parts = PartsOf(job_, u);
  Program program;
  if (parts.head) {
    program.segments.push_back(SegmentOf("head", model.head.backward));
  }
  program.segments.push_back(
      SegmentOf("layer", model.layer.backward, parts.layers));
  if (parts.embedding) {
    program.segments.push_back(
        SegmentOf("embedding", model.embedding.backward));
  } else {
    AddSend(graph_.stage_of[static_cast<size_t>(u - 1)], program);
  }
  return program;
}

void GraphBuilder::AddSend(int stage, Program& program) {
  program.segments.push_back(
      SegmentOf("send", {transfers_[static_cast<size_t>(stage)]}));
}

// Virtual stages between the first and the last that run on one stage share
// their program.
void GraphBuilder::AddPrograms(step::Phase phase, const ModelCosts& model) {
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
    program_of.push_back(AddProgram(phase == step::Phase::kForward
                                        ? Forward(model, u)
                                        : Backward(model, u)));
    if (inner) program_of_stage[stage] = program_of.back();
  }
}

void GraphBuilder::AddOperations(const ModelCosts& model) {
  AddPrograms(step::Phase::kForward, model);
  AddPrograms(step::Phase::kBackward, model);
  graph_.program_of[static_cast<size_t>(step::Phase::kBackwardWeight)].assign(
      graph_.stage_of.size(), -1);
}

// The tasks that send are the whole way: what arrives has arrived.
void GraphBuilder::AddHops() {
  const int arrived =
      graph_.add_distribution(stats::Distribution::MakeConstant(0));
  const auto boundaries = static_cast<size_t>(graph_.virtual_stages() - 1);
  graph_.hop_kind = static_cast<int>(TaskKind::kPipelineCommunication);
  graph_.forward_hop.assign(boundaries, arrived);
  graph_.backward_hop.assign(boundaries, arrived);
}

absl::Status GraphBuilder::AddClosings() {
  for (int stage = 0; stage < graph_.grid.stages; ++stage) {
    const absl::StatusOr<CostedTasks> tasks =
        CostOfClosing(job_, cost_, slowest_gpu_, stage);
    if (!tasks.ok()) return tasks.status();
    graph_.closing.push_back(
        AddProgram({.segments = {SegmentOf("update", *tasks)}}));
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
