#include "core/estimate/nominal.h"

#include <algorithm>
#include <utility>

namespace prism::estimate {
namespace {

using workload::Parallelism;
using workload::Training;

constexpr size_t kForward = 0;
constexpr size_t kBackward = 1;

// Layouts say which of a cluster's nodes they use, not how good those are.
hardware::Cluster Alike(hardware::Cluster cluster) {
  cluster.node_states.clear();
  cluster.path_states.clear();
  return cluster;
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

template <size_t kSize>
std::array<int64_t, 20> KeyOf(const std::array<int64_t, kSize>& sizes) {
  static_assert(kSize <= 20);
  std::array<int64_t, 20> key = {};
  std::copy(sizes.begin(), sizes.end(), key.begin());
  return key;
}

// What the shape of a job's groups depends on.
std::array<int64_t, 6> ShapeSizes(const Parallelism& split) {
  return {split.tensor,
          split.context,
          split.pipeline,
          split.data,
          static_cast<int64_t>(split.rank_order),
          split.virtual_stages > 1};
}

std::array<KindSeconds, 2> SumOf(const PartCosts& part) {
  return {SumOf(part.forward), SumOf(part.backward)};
}

}  // namespace

NominalEvaluator::NominalEvaluator(const workload::Model& model,
                                   const hardware::Cluster& cluster,
                                   const calibration::Constants& constants)
    : cluster_(Alike(cluster)), constants_(constants) {
  job_.model = model;
}

const PlacementShape& NominalEvaluator::ShapeOfJob() {
  auto& shape = shapes_[KeyOf(ShapeSizes(job_.parallelism))];
  if (shape == nullptr) {
    shape = std::make_unique<PlacementShape>(ShapeOf(job_, cluster_, {}));
  }
  return *shape;
}

absl::StatusOr<const NominalEvaluator::Parts*> NominalEvaluator::PartsOfJob(
    const PlacementShape& shape) {
  const Parallelism& split = job_.parallelism;
  const Training& training = job_.training;
  auto& parts = parts_[KeyOf(std::to_array<int64_t>({
      split.tensor,
      split.context,
      split.sequence_parallel,
      split.gpus(),
      training.sequence,
      training.micro_batch,
      job_.microbatches() > 1,
      static_cast<int64_t>(split.context_kind),
      static_cast<int64_t>(training.precision),
      static_cast<int64_t>(training.recompute),
      static_cast<int64_t>(training.attention),
      training.fp32_gradients,
  }))];
  if (parts != nullptr) return parts.get();
  const absl::StatusOr<ModelCosts> model =
      CostOfModel(job_, Cost(job_, cluster_, shape, constants_),
                  SlowestFactor(split.gpus(), variation_));
  if (!model.ok()) return model.status();
  parts = std::make_unique<Parts>(Parts{.layer = SumOf(model->layer),
                                        .embedding = SumOf(model->embedding),
                                        .head = SumOf(model->head)});
  return parts.get();
}

absl::StatusOr<const NominalEvaluator::Stages*> NominalEvaluator::StagesOfJob(
    const PlacementShape& shape) {
  const Parallelism& split = job_.parallelism;
  const Training& training = job_.training;
  if (!split.stage_layers.empty()) {
    absl::StatusOr<Stages> cost = CostOfStages(shape);
    if (!cost.ok()) return cost.status();
    uneven_ = *std::move(cost);
    return &uneven_;
  }
  auto& stages = stages_[KeyOf(std::to_array<int64_t>({
      split.tensor,
      split.context,
      split.pipeline,
      split.data,
      static_cast<int64_t>(split.rank_order),
      split.virtual_stages > 1,
      split.sequence_parallel,
      training.sequence,
      training.micro_batch,
      static_cast<int64_t>(split.sharding),
      split.shard_group,
      static_cast<int64_t>(training.precision),
      training.fp32_gradients,
  }))];
  if (stages != nullptr) return stages.get();
  absl::StatusOr<Stages> cost = CostOfStages(shape);
  if (!cost.ok()) return cost.status();
  stages = std::make_unique<Stages>(*std::move(cost));
  return stages.get();
}

absl::StatusOr<NominalEvaluator::Stages> NominalEvaluator::CostOfStages(
    const PlacementShape& shape) const {
  const Cost cost(job_, cluster_, shape, constants_);
  const double slowdown = SlowestFactor(job_.parallelism.gpus(), variation_);
  Stages stages;
  for (int64_t stage = 0; stage < cost.boundaries(); ++stage) {
    stages.transfer.push_back(CostOfTransfer(job_, cost, stage).time.seconds);
  }
  for (int64_t stage = 0; stage < job_.parallelism.pipeline; ++stage) {
    const auto closing = CostOfClosing(job_, cost, slowdown, stage);
    if (!closing.ok()) return closing.status();
    stages.closing.push_back(estimate::SumOf(*closing));
  }
  return stages;
}

KindSeconds NominalEvaluator::SumOfVirtualStage(const Parts& parts,
                                                const Stages& stages,
                                                int64_t virtual_stage,
                                                size_t phase) const {
  const StageParts holds = PartsOf(job_, virtual_stage);
  const int64_t pipeline = job_.parallelism.pipeline;
  KindSeconds sum;
  sum.Add(parts.layer[phase], static_cast<double>(holds.layers));
  if (holds.embedding) sum.Add(parts.embedding[phase]);
  if (holds.head) sum.Add(parts.head[phase]);
  const bool is_end = phase == kForward ? holds.head : holds.embedding;
  if (!is_end) {
    const int64_t boundary =
        phase == kForward ? virtual_stage : virtual_stage - 1;
    sum[TaskKind::kPipelineCommunication] +=
        stages.transfer[static_cast<size_t>(boundary % pipeline)];
  }
  return sum;
}

NominalTime NominalEvaluator::Assemble(const Parts& parts,
                                       const Stages& stages) {
  const Parallelism& split = job_.parallelism;
  const int64_t virtual_stages = split.pipeline * split.virtual_stages;
  times_.schedule = ScheduleOf(split.schedule);
  times_.stages = static_cast<int>(split.pipeline);
  times_.chunks = static_cast<int>(split.virtual_stages);
  times_.microbatches = static_cast<int>(job_.microbatches());
  times_.forward.clear();
  times_.backward.clear();
  for (int64_t u = 0; u < virtual_stages; ++u) {
    times_.forward.push_back(
        SumOfVirtualStage(parts, stages, u, kForward).total());
    times_.backward.push_back(
        SumOfVirtualStage(parts, stages, u, kBackward).total());
  }
  times_.forward_hop.assign(static_cast<size_t>(virtual_stages - 1), 0);
  times_.backward_hop.assign(static_cast<size_t>(virtual_stages - 1), 0);
  const std::vector<double>& ends = clock_.StageEnds(times_);

  NominalTime time;
  int64_t last = 0;
  for (int64_t stage = 0; stage < split.pipeline; ++stage) {
    const auto s = static_cast<size_t>(stage);
    const double end = ends[s] + stages.closing[s].total();
    if (end > time.seconds) time.seconds = end, last = stage;
  }
  for (int64_t u = last; u < virtual_stages; u += split.pipeline) {
    for (const size_t phase : {kForward, kBackward}) {
      time.by_kind.Add(SumOfVirtualStage(parts, stages, u, phase),
                       times_.microbatches);
    }
  }
  time.by_kind.Add(stages.closing[static_cast<size_t>(last)]);
  time.bubble = std::max(0.0, time.seconds - time.by_kind.total());
  return time;
}

absl::StatusOr<NominalTime> NominalEvaluator::Evaluate(
    const Parallelism& parallelism, const Training& training) {
  job_.parallelism = parallelism;
  job_.training = training;
  const PlacementShape& shape = ShapeOfJob();
  const auto parts = PartsOfJob(shape);
  if (!parts.ok()) return parts.status();
  const auto stages = StagesOfJob(shape);
  if (!stages.ok()) return stages.status();
  return Assemble(**parts, **stages);
}

}  // namespace prism::estimate
