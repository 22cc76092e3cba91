#include "core/estimate/graph_builder.h"

#include <cmath>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/estimate/closing_costs.h"
#include "core/estimate/costed_task.h"
#include "core/estimate/part_costs.h"
#include "core/workload/stages.h"

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

KindSeconds SumOf(const ModelCosts& model, CostedTasks PartCosts::*phase,
                  const StageParts& parts) {
  KindSeconds sum;
  sum.Add(estimate::SumOf(model.layer.*phase), parts.layers);
  sum.Add(estimate::SumOf(model.recomputed_layer.*phase),
          parts.recomputed_layers);
  if (parts.embedding) sum.Add(estimate::SumOf(model.embedding.*phase));
  if (parts.head) sum.Add(estimate::SumOf(model.head.*phase));
  return sum;
}

constexpr std::string_view kClosing = "closing";

std::string_view PartName(CostedTasks PartCosts::*part) {
  if (part == &PartCosts::backward_input) return "backward_input";
  if (part == &PartCosts::backward_weight) return "backward_weight";
  return "backward";
}

class GraphBuilder final {
 public:
  GraphBuilder(const workload::Job& job, const Cost& cost,
               const Variation& variation, const step::PipelineOrder& order,
               double step_seconds)
      : job_(job),
        cost_(cost),
        variation_(variation),
        order_(order),
        step_seconds_(step_seconds) {}

  absl::StatusOr<StepGraph> Build();

 private:
  void AddShape();
  void AddHops();
  void AddFactors();
  void AddStepWide(const std::string& name,
                   const stats::Distribution& distribution,
                   std::initializer_list<FactorClass> applies_to);
  void AddOperations(const ModelCosts& model);
  absl::Status AddClosings(const ModelCosts& model);

  Task TaskOf(const CostedTask& costed);
  // "forward.layer.tensor_communication": what the task does, for people.
  std::string NameOf(const std::string& segment, const Task& task) const;
  // Adds `tasks`, run `count` times, to the end of `program`; nothing where
  // either is empty. Where `count` is no whole number, the rest of it is one
  // segment as much shorter.
  void AddSegment(const std::string& name, const CostedTasks& tasks,
                  double count, Program& program);
  // Program of one phase of virtual stage `u`.
  Program ProgramOf(const ModelCosts& model, step::Phase phase, int u);
  void AddForward(const ModelCosts& model, const StageParts& parts,
                  Program& program);
  // A backward, or one part of it.
  void AddBackward(const ModelCosts& model, CostedTasks PartCosts::*part,
                   const StageParts& parts, Program& program);
  // What is left of copies to or from the host beside a phase.
  CostedTasks Offload(const ModelCosts& model, CostedTasks PartCosts::*beside,
                      const StageParts& parts) const;
  // Window of one micro-batch on all virtual stages of `stage`.
  double WindowSeconds(const ModelCosts& model, int stage,
                       CostedTasks PartCosts::*phase) const;
  // The transfer over the boundary behind virtual stage `u`, where there is one
  // and it holds its sender up.
  void AddSend(int u, Program& program);
  bool SendsBeside() const { return job_.parallelism.overlap.pipeline; }
  // `runs`: which virtual stages run the phase.
  void AddPrograms(step::Phase phase, const std::vector<bool>& runs,
                   const ModelCosts& model);
  int AddProgram(Program program);

  const workload::Job& job_;
  const Cost& cost_;
  const Variation& variation_;
  const step::PipelineOrder& order_;
  double step_seconds_;
  // By boundary.
  std::vector<CostedTask> transfers_;
  // What the slowest GPU's compute takes longer than nominal, as long as nobody
  // measured any; RankSlowdowns() puts what was measured in its place.
  double slowest_gpu_ = 1;
  std::string_view part_;  // of the step, that segments are added to
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
  graph_.kinds = TaskKindNames();
  graph_.groups = {
      {.lane_stride = 1, .lane_count = graph_.grid.lanes},
      {.replica_stride = 1, .replica_count = graph_.grid.replicas}};
  step::PutOrder(order_, graph_);
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

std::string GraphBuilder::NameOf(const std::string& segment,
                                 const Task& task) const {
  const std::string& kind = graph_.kinds[static_cast<size_t>(task.kind)];
  if (part_ == kClosing) {
    return task.factor_class == FactorClass::kNetwork ? "gradient_sync" : kind;
  }
  std::string name = std::string(part_) + "." + segment;
  if (kind != "compute" && kind != segment) name += "." + kind;
  return name;
}

void GraphBuilder::AddSegment(const std::string& name, const CostedTasks& tasks,
                              double count, Program& program) {
  if (tasks.empty() || count <= 0) return;
  Segment segment = {.name = name, .tasks = {}, .count = 1};
  const auto add = [&](double share, int64_t times) {
    segment.tasks.clear();
    segment.count = times;
    for (CostedTask task : tasks) {
      task.time = task.time.Part(share);
      segment.tasks.push_back(TaskOf(task));
      segment.tasks.back().name =
          graph_.add_name(NameOf(name, segment.tasks.back()));
    }
    program.segments.push_back(segment);
  };
  const double whole = std::floor(count);
  if (whole > 0) add(1, static_cast<int64_t>(whole));
  if (count > whole) add(count - whole, 1);
}

void GraphBuilder::AddForward(const ModelCosts& model, const StageParts& parts,
                              Program& program) {
  AddSegment("embedding", model.embedding.forward, parts.embedding, program);
  AddSegment("layer", model.layer.forward,
             parts.layers + parts.recomputed_layers, program);
  AddSegment("head", model.head.forward, parts.head, program);
}

void GraphBuilder::AddBackward(const ModelCosts& model,
                               CostedTasks PartCosts::*part,
                               const StageParts& parts, Program& program) {
  part_ = PartName(part);
  AddSegment("head", model.head.*part, parts.head, program);
  AddSegment("layer", model.layer.*part, parts.layers, program);
  AddSegment("recomputed_layer", model.recomputed_layer.*part,
             parts.recomputed_layers, program);
  AddSegment("embedding", model.embedding.*part, parts.embedding, program);
}

CostedTasks GraphBuilder::Offload(const ModelCosts& model,
                                  CostedTasks PartCosts::*beside,
                                  const StageParts& parts) const {
  const CostedTasks host = CostOfHostOperation(job_, cost_.constants());
  return LeftOfOffload(
      parts.offloaded_bytes,
      estimate::SumOf(host).total() + SumOf(model, beside, parts).total(),
      cost_.constants());
}

Program GraphBuilder::ProgramOf(const ModelCosts& model, step::Phase phase,
                                int u) {
  const StageParts parts = PartsOf(job_, u);
  Program program;
  if (phase == step::Phase::kBackwardWeight) {
    AddBackward(model, &PartCosts::backward_weight, parts, program);
    return program;
  }
  const bool splits = SplitsBackward(job_.parallelism.schedule);
  const auto part = splits ? &PartCosts::backward_input : &PartCosts::backward;
  part_ = phase == step::Phase::kForward ? "forward" : PartName(part);
  AddSegment("host", CostOfHostOperation(job_, cost_.constants()), 1, program);
  if (phase == step::Phase::kForward) {
    AddForward(model, parts, program);
    AddSegment("offload", Offload(model, &PartCosts::forward, parts), 1,
               program);
    AddSend(u, program);
    return program;
  }
  AddBackward(model, part, parts, program);
  AddSegment("offload", Offload(model, part, parts), 1, program);
  if (splits && phase == step::Phase::kBackward) {
    AddBackward(model, &PartCosts::backward_weight, parts, program);
  }
  part_ = "backward";
  if (u > 0) AddSend(u - 1, program);
  return program;
}

void GraphBuilder::AddSend(int u, Program& program) {
  const int64_t boundary = BoundaryBehind(job_.parallelism, u);
  if (SendsBeside() || boundary == workload::kNoBoundary) return;
  AddSegment("send", {transfers_[static_cast<size_t>(boundary)]}, 1, program);
}

// Virtual stages that run the same parts on one stage share their program.
void GraphBuilder::AddPrograms(step::Phase phase, const std::vector<bool>& runs,
                               const ModelCosts& model) {
  std::vector<int>& program_of = graph_.program_of[static_cast<size_t>(phase)];
  std::map<std::tuple<int, int64_t, StageParts>, int> known;
  for (int u = 0; u < graph_.virtual_stages(); ++u) {
    if (!runs[static_cast<size_t>(u)]) {
      program_of.push_back(-1);
      continue;
    }
    const int64_t boundary = BoundaryBehind(
        job_.parallelism, phase == step::Phase::kForward ? u : u - 1);
    const auto [program, is_new] = known.try_emplace(
        {graph_.stage_of[static_cast<size_t>(u)], boundary, PartsOf(job_, u)},
        0);
    if (is_new) program->second = AddProgram(ProgramOf(model, phase, u));
    program_of.push_back(program->second);
  }
}

void GraphBuilder::AddOperations(const ModelCosts& model) {
  const auto runs = step::PhasesOf(order_);
  for (size_t phase = 0; phase < runs.size(); ++phase) {
    AddPrograms(static_cast<step::Phase>(phase), runs[phase], model);
  }
}

// A transfer that holds its sender up is the whole way: what arrives has
// arrived.
void GraphBuilder::AddHops() {
  graph_.hop_kind = static_cast<int>(TaskKind::kPipelineCommunication);
  for (int u = 0; u + 1 < graph_.virtual_stages(); ++u) {
    const int64_t boundary = BoundaryBehind(job_.parallelism, u);
    const hardware::LinkTime time =
        SendsBeside() && boundary != workload::kNoBoundary
            ? transfers_[static_cast<size_t>(boundary)].time
            : hardware::LinkTime{};
    for (auto* hops : {&graph_.forward_hop, &graph_.backward_hop}) {
      hops->push_back(graph_.add_distribution(NetworkTime(time, variation_)));
    }
  }
}

double GraphBuilder::WindowSeconds(const ModelCosts& model, int stage,
                                   CostedTasks PartCosts::*phase) const {
  double sum = 0;
  for (int u = 0; u < graph_.virtual_stages(); ++u) {
    if (graph_.stage_of[static_cast<size_t>(u)] != stage) continue;
    const StageParts parts = PartsOf(job_, u);
    KindSeconds seconds = SumOf(model, phase, parts);
    if (phase != &PartCosts::backward_weight) {
      seconds.Add(
          estimate::SumOf(CostOfHostOperation(job_, cost_.constants())));
      seconds.Add(estimate::SumOf(Offload(model, phase, parts)));
    }
    sum += seconds.window();
  }
  return sum;
}

absl::Status GraphBuilder::AddClosings(const ModelCosts& model) {
  const auto backward = SplitsBackward(job_.parallelism.schedule)
                            ? &PartCosts::backward_weight
                            : &PartCosts::backward;
  for (int stage = 0; stage < graph_.grid.stages; ++stage) {
    const absl::StatusOr<ClosingCosts> costs =
        CostOfClosing(job_, cost_, slowest_gpu_, stage);
    if (!costs.ok()) return costs.status();
    Program program;
    part_ = kClosing;
    AddSegment("update",
               ClosingTasks(job_, *costs,
                            WindowSeconds(model, stage, &PartCosts::forward),
                            WindowSeconds(model, stage, backward),
                            cost_.constants().overlap),
               1, program);
    graph_.closing.push_back(AddProgram(std::move(program)));
  }
  return absl::OkStatus();
}

void GraphBuilder::AddFactors() {
  AddStepWide("compute_regime", StepFactor(step_seconds_, variation_),
              {FactorClass::kCompute, FactorClass::kOptimizer});
  AddStepWide(
      "rare_slow_steps", RareFactor(variation_),
      {FactorClass::kCompute, FactorClass::kOptimizer, FactorClass::kNetwork});
}

void GraphBuilder::AddStepWide(const std::string& name,
                               const stats::Distribution& distribution,
                               std::initializer_list<FactorClass> applies_to) {
  if (distribution.IsConstant()) return;
  step::SharedFactor factor;
  factor.name = name;
  factor.distribution = distribution;
  factor.scope = step::FactorScope::kStep;
  for (const FactorClass factor_class : applies_to) {
    factor.applies_to[static_cast<size_t>(factor_class)] = true;
  }
  graph_.shared_factors.push_back(factor);
}

}  // namespace

absl::StatusOr<step::StepGraph> BuildJobGraph(const workload::Job& job,
                                              const Cost& cost,
                                              const Variation& variation,
                                              const step::PipelineOrder& order,
                                              double step_seconds) {
  return GraphBuilder(job, cost, variation, order, step_seconds).Build();
}

}  // namespace prism::estimate
