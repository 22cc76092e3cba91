#include "core/estimate/graph_builder.h"

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/estimate/closing_costs.h"
#include "core/estimate/costed_task.h"
#include "core/estimate/part_costs.h"
#include "core/estimate/pipeline_clock.h"
#include "core/step/schedule.h"

namespace prism::estimate {
namespace {

using step::FactorClass;
using step::Program;
using step::Segment;
using step::StepGraph;
using step::Task;

// Indices into StepGraph::groups.
constexpr int kLaneGroup = 0;
constexpr int kDataGroup = 1;

int GroupOf(Meeting meeting) {
  switch (meeting) {
    case Meeting::kNobody:
      return step::kNoGroup;
    case Meeting::kLanes:
      return kLaneGroup;
    case Meeting::kReplicas:
      return kDataGroup;
  }
  return step::kNoGroup;
}

class GraphBuilder final {
 public:
  GraphBuilder(const workload::Job& job, const Cost& cost,
               const Variation& variation, double step_seconds)
      : job_(job),
        cost_(cost),
        variation_(variation),
        step_seconds_(step_seconds) {}

  absl::StatusOr<StepGraph> Build();

 private:
  void AddShape();
  void AddHops();
  void AddFactors();
  void AddStepWide(const stats::Distribution& distribution,
                   std::initializer_list<FactorClass> applies_to);
  void AddOperations(const ModelCosts& model);
  absl::Status AddClosings(const ModelCosts& model);

  Task TaskOf(const CostedTask& costed);
  // Adds `tasks`, run `count` times, to the end of `program`; nothing where
  // either is empty.
  void AddSegment(const std::string& name, const CostedTasks& tasks,
                  int64_t count, Program& program);
  // Program of one virtual stage's forward or backward.
  Program Forward(const ModelCosts& model, int u);
  Program Backward(const ModelCosts& model, int u);
  // Window of one micro-batch on all virtual stages of `stage`.
  double WindowSeconds(const ModelCosts& model, int stage,
                       CostedTasks PartCosts::*phase) const;
  // The transfer over the boundary behind `stage`, where it holds its sender
  // up.
  void AddSend(int stage, Program& program);
  bool SendsBeside() const { return job_.parallelism.overlap.pipeline; }
  void AddPrograms(step::Phase phase, const ModelCosts& model);
  int AddProgram(Program program);

  const workload::Job& job_;
  const Cost& cost_;
  const Variation& variation_;
  double step_seconds_;
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
  if (absl::Status status = AddClosings(*model); !status.ok()) return status;
  AddFactors();
  return std::move(graph_);
}

void GraphBuilder::AddShape() {
  const workload::Parallelism& parallelism = job_.parallelism;
  graph_.grid = {
      .replicas = static_cast<int>(parallelism.data),
      .stages = static_cast<int>(parallelism.pipeline),
      .lanes = static_cast<int>(parallelism.tensor * parallelism.context)};
  graph_.microbatches = static_cast<int>(job_.microbatches());
  graph_.kinds = TaskKindNames();
  graph_.groups = {
      {.lane_stride = 1, .lane_count = graph_.grid.lanes},
      {.replica_stride = 1, .replica_count = graph_.grid.replicas}};
  auto order = step::MakeOrder(
      ScheduleOf(parallelism.schedule),
      {graph_.grid.stages, static_cast<int>(parallelism.virtual_stages),
       graph_.microbatches});
  PRISM_CHECK(order.ok());
  step::PutOrder(*std::move(order), graph_);
  for (int64_t stage = 0; stage < cost_.boundaries(); ++stage) {
    transfers_.push_back(CostOfTransfer(cost_, stage));
  }
  slowest_gpu_ = SlowestFactor(job_.parallelism.gpus(), variation_);
}

int GraphBuilder::AddProgram(Program program) {
  graph_.programs.push_back(std::move(program));
  return static_cast<int>(graph_.programs.size()) - 1;
}

Task GraphBuilder::TaskOf(const CostedTask& costed) {
  Task task;
  task.kind = static_cast<int>(costed.kind);
  task.group = GroupOf(costed.meeting);
  if (IsCommunication(costed.kind)) {
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

void GraphBuilder::AddSegment(const std::string& name, const CostedTasks& tasks,
                              int64_t count, Program& program) {
  if (tasks.empty() || count == 0) return;
  Segment segment = {.name = name, .tasks = {}, .count = count};
  for (const CostedTask& task : tasks) segment.tasks.push_back(TaskOf(task));
  program.segments.push_back(std::move(segment));
}

Program GraphBuilder::Forward(const ModelCosts& model, int u) {
  const StageParts parts = PartsOf(job_, u);
  Program program;
  AddSegment("host", CostOfHostOperation(job_, cost_.constants()), 1, program);
  AddSegment("embedding", model.embedding.forward, parts.embedding, program);
  AddSegment("layer", model.layer.forward,
             parts.layers + parts.recomputed_layers, program);
  AddSegment("head", model.head.forward, parts.head, program);
  if (!parts.head) AddSend(graph_.stage_of[static_cast<size_t>(u)], program);
  return program;
}

Program GraphBuilder::Backward(const ModelCosts& model, int u) {
  const StageParts parts = PartsOf(job_, u);
  Program program;
  AddSegment("host", CostOfHostOperation(job_, cost_.constants()), 1, program);
  AddSegment("head", model.head.backward, parts.head, program);
  AddSegment("layer", model.layer.backward, parts.layers, program);
  AddSegment("recomputed layer", model.recomputed_layer.backward,
             parts.recomputed_layers, program);
  AddSegment("embedding", model.embedding.backward, parts.embedding, program);
  if (!parts.embedding) {
    AddSend(graph_.stage_of[static_cast<size_t>(u - 1)], program);
  }
  return program;
}

void GraphBuilder::AddSend(int stage, Program& program) {
  if (SendsBeside()) return;
  AddSegment("send", {transfers_[static_cast<size_t>(stage)]}, 1, program);
}

// Virtual stages that run the same parts on one stage share their program.
void GraphBuilder::AddPrograms(step::Phase phase, const ModelCosts& model) {
  std::vector<int>& program_of = graph_.program_of[static_cast<size_t>(phase)];
  std::map<std::pair<int, StageParts>, int> known;
  for (int u = 0; u < graph_.virtual_stages(); ++u) {
    const int stage = graph_.stage_of[static_cast<size_t>(u)];
    const auto [program, is_new] =
        known.try_emplace({stage, PartsOf(job_, u)}, 0);
    if (is_new) {
      program->second =
          AddProgram(phase == step::Phase::kForward ? Forward(model, u)
                                                    : Backward(model, u));
    }
    program_of.push_back(program->second);
  }
}

void GraphBuilder::AddOperations(const ModelCosts& model) {
  AddPrograms(step::Phase::kForward, model);
  AddPrograms(step::Phase::kBackward, model);
}

// A transfer that holds its sender up is the whole way: what arrives has
// arrived.
void GraphBuilder::AddHops() {
  graph_.hop_kind = static_cast<int>(TaskKind::kPipelineCommunication);
  for (int u = 0; u + 1 < graph_.virtual_stages(); ++u) {
    const auto stage = static_cast<size_t>(graph_.stage_of[u]);
    const hardware::LinkTime time =
        SendsBeside() ? transfers_[stage].time : hardware::LinkTime{};
    for (auto* hops : {&graph_.forward_hop, &graph_.backward_hop}) {
      hops->push_back(graph_.add_distribution(NetworkTime(time, variation_)));
    }
  }
}

double GraphBuilder::WindowSeconds(const ModelCosts& model, int stage,
                                   CostedTasks PartCosts::*phase) const {
  const auto seconds = [phase](const PartCosts& part, int64_t count) {
    return static_cast<double>(count) * SumOf(part.*phase).window();
  };
  double sum = 0;
  for (int u = stage; u < graph_.virtual_stages(); u += graph_.grid.stages) {
    const StageParts parts = PartsOf(job_, u);
    sum += seconds(model.layer, parts.layers) +
           seconds(model.recomputed_layer, parts.recomputed_layers) +
           seconds(model.embedding, parts.embedding) +
           seconds(model.head, parts.head);
  }
  return sum;
}

absl::Status GraphBuilder::AddClosings(const ModelCosts& model) {
  for (int stage = 0; stage < graph_.grid.stages; ++stage) {
    const absl::StatusOr<ClosingCosts> costs =
        CostOfClosing(job_, cost_, slowest_gpu_, stage);
    if (!costs.ok()) return costs.status();
    Program program;
    AddSegment("update",
               ClosingTasks(job_, *costs,
                            WindowSeconds(model, stage, &PartCosts::forward),
                            WindowSeconds(model, stage, &PartCosts::backward),
                            cost_.constants().overlap),
               1, program);
    graph_.closing.push_back(AddProgram(std::move(program)));
  }
  return absl::OkStatus();
}

void GraphBuilder::AddFactors() {
  AddStepWide(StepFactor(step_seconds_, variation_),
              {FactorClass::kCompute, FactorClass::kOptimizer});
  AddStepWide(
      RareFactor(variation_),
      {FactorClass::kCompute, FactorClass::kOptimizer, FactorClass::kNetwork});
}

void GraphBuilder::AddStepWide(const stats::Distribution& distribution,
                               std::initializer_list<FactorClass> applies_to) {
  if (distribution.IsConstant()) return;
  step::SharedFactor factor;
  factor.distribution = distribution;
  factor.scope = step::FactorScope::kStep;
  for (const FactorClass factor_class : applies_to) {
    factor.applies_to[static_cast<size_t>(factor_class)] = true;
  }
  graph_.shared_factors.push_back(factor);
}

}  // namespace

absl::StatusOr<StepGraph> BuildJobGraph(const workload::Job& job,
                                        const Cost& cost,
                                        const Variation& variation,
                                        double step_seconds) {
  return GraphBuilder(job, cost, variation, step_seconds).Build();
}

}  // namespace prism::estimate
