#include "core/estimate/step_costs.h"

#include <numeric>

#include "core/estimate/timed_stretch.h"
#include "core/workload/operators.h"
#include "core/workload/parameters.h"
#include "core/workload/stages.h"

namespace prism::estimate {
namespace {

using hardware::LinkTime;
using workload::Job;

absl::StatusOr<CostedTasks> CostOfStretches(
    const workload::Stretches& stretches, const Cost& cost, double slowdown) {
  std::vector<TimedStretch> timed;
  for (const workload::Stretch& stretch : stretches) {
    const absl::StatusOr<double> seconds =
        cost.OperatorSeconds(stretch.operators);
    if (!seconds.ok()) return seconds.status();
    TimedStretch& time = timed.emplace_back();
    time.seconds = slowdown * *seconds;
    time.recompute = stretch.recompute;
    if (stretch.then) time.then = cost.TensorTime(*stretch.then);
  }
  CostedTasks tasks;
  for (const TimedStretch& stretch : JoinShortStretches(std::move(timed))) {
    tasks.push_back(
        {.kind = stretch.recompute ? TaskKind::kRecompute : TaskKind::kCompute,
         .time = {.seconds = stretch.seconds}});
    if (stretch.then) {
      tasks.push_back({.kind = TaskKind::kTensorCommunication,
                       .meeting = Meeting::kLanes,
                       .time = *stretch.then});
    }
  }
  return tasks;
}

absl::StatusOr<PartCosts> CostOfPart(const workload::Stretches& forward,
                                     const workload::Stretches& backward,
                                     const Cost& cost, double slowdown) {
  absl::StatusOr<CostedTasks> there = CostOfStretches(forward, cost, slowdown);
  if (!there.ok()) return there.status();
  absl::StatusOr<CostedTasks> back = CostOfStretches(backward, cost, slowdown);
  if (!back.ok()) return back.status();
  return PartCosts{*std::move(there), *std::move(back)};
}

CostedTask DataTask(const LinkTime& time, Meeting meeting) {
  return {
      .kind = TaskKind::kDataCommunication, .meeting = meeting, .time = time};
}

void AddGradientReduction(const Job& job, const Cost& cost, int64_t stage,
                          CostedTasks& tasks) {
  const double gradients =
      StageParameters(job, stage) * GradientBytes(job.training);
  const bool sharded = job.parallelism.sharding == workload::Sharding::kZero1;
  const auto kind = sharded ? hardware::CollectiveKind::kReduceScatter
                            : hardware::CollectiveKind::kAllReduce;
  tasks.push_back(
      DataTask(cost.DataTime(kind, gradients, stage), Meeting::kReplicas));
  const bool holds_embedding = stage == 0 || HoldsTiedCopy(job, stage);
  if (!holds_embedding || !HoldsTiedCopy(job, job.parallelism.pipeline - 1)) {
    return;
  }
  const double embedding = EmbeddingParameters(job.model).split /
                           static_cast<double>(job.parallelism.tensor) *
                           GradientBytes(job.training);
  tasks.push_back(DataTask(cost.TiedCopyTime(embedding), Meeting::kNobody));
}

absl::Status AddOptimizer(const Job& job, const Cost& cost, double slowdown,
                          int64_t stage, CostedTasks& tasks) {
  const double parameters = StageParameters(job, stage);
  const bool sharded = job.parallelism.sharding == workload::Sharding::kZero1;
  const double owned =
      sharded ? parameters / static_cast<double>(job.parallelism.data)
              : parameters;
  const absl::StatusOr<double> seconds =
      cost.OperatorSeconds(OptimizerUpdate(job, parameters, owned));
  if (!seconds.ok()) return seconds.status();
  tasks.push_back(
      {.kind = TaskKind::kOptimizer, .time = {.seconds = slowdown * *seconds}});
  if (sharded) {
    const double weights = parameters * ActivationBytes(job.training);
    tasks.push_back(DataTask(
        cost.DataTime(hardware::CollectiveKind::kAllGather, weights, stage),
        Meeting::kReplicas));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> TaskKindNames() {
  return {"compute",
          "recompute",
          "tensor_communication",
          "pipeline_communication",
          "data_communication",
          "optimizer"};
}

bool IsOwnWork(TaskKind kind) {
  return kind == TaskKind::kCompute || kind == TaskKind::kRecompute ||
         kind == TaskKind::kOptimizer;
}

double KindSeconds::total() const {
  return std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
}

KindSeconds SumOf(const CostedTasks& tasks) {
  KindSeconds sum;
  for (const CostedTask& task : tasks) sum[task.kind] += task.time.seconds;
  return sum;
}

absl::StatusOr<ModelCosts> CostOfModel(const Job& job, const Cost& cost,
                                       double slowdown) {
  auto layer =
      CostOfPart(LayerForward(job), LayerBackward(job), cost, slowdown);
  if (!layer.ok()) return layer.status();
  auto embedding =
      CostOfPart(EmbeddingForward(job), EmbeddingBackward(job), cost, slowdown);
  if (!embedding.ok()) return embedding.status();
  auto head = CostOfPart(HeadForward(job), HeadBackward(job), cost, slowdown);
  if (!head.ok()) return head.status();
  return ModelCosts{*std::move(layer), *std::move(embedding), *std::move(head)};
}

StageParts PartsOf(const Job& job, int64_t virtual_stage) {
  const workload::Parallelism& parallelism = job.parallelism;
  const int64_t last = parallelism.pipeline * parallelism.virtual_stages - 1;
  return {.layers = workload::LayersOfVirtualStage(job, virtual_stage),
          .embedding = virtual_stage == 0,
          .head = virtual_stage == last};
}

CostedTask CostOfTransfer(const Job& job, const Cost& cost, int64_t stage) {
  const bool gathered = StageBoundary(job).gathered_bytes > 0;
  return {.kind = TaskKind::kPipelineCommunication,
          .meeting = gathered ? Meeting::kLanes : Meeting::kNobody,
          .time = cost.BoundaryTime(stage)};
}

absl::StatusOr<CostedTasks> CostOfClosing(const Job& job, const Cost& cost,
                                          double slowdown, int64_t stage) {
  CostedTasks tasks;
  AddGradientReduction(job, cost, stage, tasks);
  absl::Status status = AddOptimizer(job, cost, slowdown, stage, tasks);
  if (!status.ok()) return status;
  return tasks;
}

}  // namespace prism::estimate
