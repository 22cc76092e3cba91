#include "core/estimate/closing_costs.h"

#include <algorithm>

#include "core/estimate/part_costs.h"
#include "core/workload/data_traffic.h"
#include "core/workload/parameters.h"
#include "core/workload/stages.h"

namespace prism::estimate {
namespace {

using hardware::LinkTime;
using workload::Job;

LinkTime Sum(LinkTime a, const LinkTime& b) { return a += b; }

// Chunks of which one is done with long before the next. Those of a folded
// pipeline take turns to the end.
bool FinishesChunks(const workload::Parallelism& split) {
  return split.virtual_stages > 1 && !FoldsPipeline(split);
}

double AloneShare(const Job& job, int64_t stage) {
  const int64_t pieces = FinishesChunks(job.parallelism)
                             ? job.parallelism.virtual_stages
                             : std::max<int64_t>(1, LayersOfStage(job, stage));
  return 1 / static_cast<double>(pieces);
}

// Micro-batches that a stage runs in a row before it is done with one of the
// pieces that are gathered or reduced: interleaved as many as there are stages,
// breadth-first all.
int64_t MicrobatchesInARow(const Job& job) {
  if (!FinishesChunks(job.parallelism)) return 1;
  return job.parallelism.schedule == workload::Schedule::kBreadthFirst
             ? job.microbatches()
             : std::min(job.microbatches(), job.parallelism.pipeline);
}

// One layer is gathered before the first forward and reduced after the last
// backward. What lies outside layers is gathered and reduced once a step: it
// stays gathered between micro-batches.
LinkTime UnhiddenOfSharded(const Job& job, const Cost& cost, int64_t stage) {
  const double layer =
      LayerParameters(job.model).per_gpu(job.parallelism.tensor);
  const double layers = static_cast<double>(LayersOfStage(job, stage));
  const double others = StageParameters(job, stage) - layers * layer;
  const double due = std::min(layers, 1.0) * layer + others;
  const Traffic before = TrafficOf(ForwardTraffic(job, due), cost, stage);
  const Traffic after = TrafficOf(BackwardTraffic(job, due).after, cost, stage);
  return Sum(before.time, after.time);
}

LinkTime TiedCopies(const Job& job, const Cost& cost, int64_t stage) {
  const int64_t last = job.parallelism.pipeline - 1;
  if (!HoldsTiedCopy(job, last) || (stage != 0 && stage != last)) return {};
  const double embedding = EmbeddingParameters(job.model).split /
                           static_cast<double>(job.parallelism.tensor);
  return cost.TiedCopyTime(embedding * GradientBytes(job.training));
}

// Both stages reduce what they hold in their own data groups first, so that
// each rank has a share to sum with the same rank of the other stage.
LinkTime Copies(const Job& job, const Cost& cost, int64_t stage) {
  if (workload::Chains(job.parallelism.schedule) == 1) {
    return TiedCopies(job, cost, stage);
  }
  const double bytes =
      StageParameters(job, stage) * GradientBytes(job.training);
  return cost.TwinTime(
      stage, bytes / static_cast<double>(job.parallelism.gradient_ranks()));
}

// Gradients go to the host, weights come back, and the host updates.
double OffloadSeconds(const Job& job, const calibration::HostSpeeds& host,
                      double owned) {
  const workload::OffloadBytes bytes = OffloadTraffic(job, owned);
  return (bytes.to_host + bytes.from_host) / host.link_bytes_per_second +
         bytes.host_memory / host.memory_bytes_per_second;
}

// `time` where nothing runs beside it, else what is left beside as many
// micro-batches' kernels as follow the first piece, or go before the last.
LinkTime LeftOf(const Job& job, const Traffic& traffic, double alone,
                bool overlapped, double seconds,
                const calibration::OverlapCosts& overlap) {
  if (!overlapped) return traffic.time;
  const auto run = static_cast<double>(MicrobatchesInARow(job));
  return BesideCompute(traffic, (1 - alone) * run * seconds, alone, overlap);
}

}  // namespace

absl::StatusOr<ClosingCosts> CostOfClosing(const Job& job, const Cost& cost,
                                           double slowdown, int64_t stage) {
  const double parameters = StageParameters(job, stage);
  const double owned = OwnedParameters(job, parameters);
  const workload::TrafficAround traffic = ClosingTraffic(job, parameters);
  ClosingCosts costs;
  costs.reduction = TrafficOf(traffic.before, cost, stage);
  costs.gathering = TrafficOf(traffic.after, cost, stage);
  costs.alone_share = AloneShare(job, stage);
  if (job.parallelism.sharding == workload::Sharding::kZero3) {
    costs.unhidden = UnhiddenOfSharded(job, cost, stage);
  }
  costs.copies = Copies(job, cost, stage);
  if (job.training.offload_optimizer) {
    costs.optimizer_seconds = OffloadSeconds(job, cost.constants().host, owned);
  } else {
    const auto seconds =
        cost.OperatorSeconds(OptimizerUpdate(job, parameters, owned));
    if (!seconds.ok()) return seconds.status();
    costs.optimizer_seconds = slowdown * *seconds;
  }
  costs.host_seconds =
      CostsOf(job.training.framework, cost.constants()).step_seconds;
  return costs;
}

CostedTasks ClosingTasks(const Job& job, const ClosingCosts& costs,
                         double forward_seconds, double backward_seconds,
                         const calibration::OverlapCosts& overlap) {
  const workload::Overlap& asked = job.parallelism.overlap;
  const auto data = [](const LinkTime& time, Meeting meeting) {
    return CostedTask{TaskKind::kDataCommunication, meeting, time};
  };
  CostedTasks tasks = {
      data(Sum(LeftOf(job, costs.reduction, costs.alone_share, asked.gradients,
                      backward_seconds, overlap),
               costs.unhidden),
           Meeting::kReplicas)};
  if (costs.copies.seconds > 0) {
    tasks.push_back(data(costs.copies, Meeting::kNobody));
  }
  tasks.push_back({.kind = TaskKind::kOptimizer,
                   .time = {.seconds = costs.optimizer_seconds}});
  if (costs.gathering.time.seconds > 0) {
    tasks.push_back(data(LeftOf(job, costs.gathering, costs.alone_share,
                                asked.parameters, forward_seconds, overlap),
                         Meeting::kReplicas));
  }
  if (costs.host_seconds > 0) {
    tasks.push_back(
        {.kind = TaskKind::kHost, .time = {.seconds = costs.host_seconds}});
  }
  return tasks;
}

}  // namespace prism::estimate
