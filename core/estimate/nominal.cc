#include "core/estimate/nominal.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/step/schedules/automatic.h"
#include "core/workload/stages.h"

namespace prism::estimate {
namespace {

using workload::Parallelism;
using workload::Training;

// Layouts say which of a cluster's nodes they use, not how good those are.
hardware::Cluster Alike(hardware::Cluster cluster) {
  cluster.node_states.clear();
  cluster.path_states.clear();
  return cluster;
}

// Sizes one after another, as a key.
class KeyWriter final {
 public:
  template <typename... Sizes>
  KeyWriter& Add(Sizes... sizes) {
    ((key_[next_++] = static_cast<int64_t>(sizes)), ...);
    return *this;
  }
  const std::array<int64_t, 28>& key() const { return key_; }

 private:
  std::array<int64_t, 28> key_ = {};
  size_t next_ = 0;
};

bool Loops(const Parallelism& split) {
  return split.virtual_stages > 1 && !FoldsPipeline(split);
}

// What the shape of a job's groups depends on.
void AddShape(const Parallelism& split, KeyWriter& key) {
  const bool hybrid = split.shards() < split.gradient_ranks();
  key.Add(split.tensor, split.context, split.pipeline, split.data,
          split.rank_order, Loops(split), Chains(split.schedule),
          hybrid ? split.shards() : 0);
}

// What operators of a job's layers depend on, besides its groups.
void AddOperators(const workload::Job& job, KeyWriter& key) {
  const Training& training = job.training;
  key.Add(job.parallelism.sequence_parallel, training.sequence,
          training.micro_batch, training.precision, training.recompute,
          training.attention, training.fp32_gradients, training.framework,
          training.compiled, training.dropout, training.fused_cross_entropy);
}

bool IsShardedByLayer(const Parallelism& split) {
  return split.sharding == workload::Sharding::kZero2 ||
         split.sharding == workload::Sharding::kZero3;
}

}  // namespace

KindSeconds NominalEvaluator::Parts::SumOf(const StageParts& held) const {
  KindSeconds sum = host;
  sum.Add(layer, held.layers);
  sum.Add(recomputed_layer, held.recomputed_layers);
  if (held.embedding) sum.Add(embedding);
  if (held.head) sum.Add(head);
  return sum;
}

NominalEvaluator::NominalEvaluator(const workload::Model& model,
                                   const hardware::Cluster& cluster,
                                   const calibration::Constants& constants,
                                   const Variation& variation)
    : cluster_(Alike(cluster)), constants_(constants), variation_(variation) {
  job_.model = model;
}

const PlacementShape& NominalEvaluator::ShapeOfJob() {
  KeyWriter key;
  AddShape(job_.parallelism, key);
  auto& shape = shapes_[key.key()];
  if (shape == nullptr) {
    shape = std::make_unique<PlacementShape>(ShapeOf(job_, cluster_, {}));
  }
  return *shape;
}

absl::StatusOr<const NominalEvaluator::PhaseParts*>
NominalEvaluator::PartsOfJob(const PlacementShape& shape) {
  const Parallelism& split = job_.parallelism;
  KeyWriter key;
  key.Add(split.gpus(), split.tensor, split.context,
          split.context > 1 ? split.context_kind : workload::ContextKind::kRing,
          split.tensor > 1 && split.overlap.tensor, job_.microbatches() > 1);
  AddOperators(job_, key);
  auto& parts = parts_[key.key()];
  if (parts != nullptr) return parts.get();
  const absl::StatusOr<ModelCosts> model =
      CostOfOperators(job_, Cost(job_, cluster_, shape, constants_),
                      SlowestFactor(split.gpus(), variation_));
  if (!model.ok()) return model.status();
  const auto sums = [&](CostedTasks PartCosts::*phase) {
    return Parts{
        .layer = estimate::SumOf(model->layer.*phase),
        .recomputed_layer = estimate::SumOf(model->recomputed_layer.*phase),
        .embedding = estimate::SumOf(model->embedding.*phase),
        .head = estimate::SumOf(model->head.*phase),
        .host = estimate::SumOf(CostOfHostOperation(job_, constants_))};
  };
  parts = std::make_unique<PhaseParts>(PhaseParts{
      sums(&PartCosts::forward), sums(&PartCosts::backward),
      sums(&PartCosts::backward_input), sums(&PartCosts::backward_weight)});
  parts->backward_weight.host = {};  // a weight part is not received or sent
  // The forward of a layer is the same whatever becomes of it.
  parts->forward.recomputed_layer = parts->forward.layer;
  return parts.get();
}

const NominalEvaluator::Transfers& NominalEvaluator::TransfersOfJob(
    const PlacementShape& shape) {
  const Training& training = job_.training;
  KeyWriter key;
  AddShape(job_.parallelism, key);
  key.Add(job_.parallelism.sequence_parallel, training.sequence,
          training.micro_batch, training.precision);
  auto& transfers = transfers_[key.key()];
  if (transfers != nullptr) return *transfers;
  const Cost cost(job_, cluster_, shape, constants_);
  transfers = std::make_unique<Transfers>();
  for (int64_t stage = 0; stage < cost.boundaries(); ++stage) {
    transfers->push_back(CostOfTransfer(cost, stage).time.seconds);
  }
  return *transfers;
}

absl::StatusOr<const NominalEvaluator::Exchange*>
NominalEvaluator::ExchangeOfJob(const PlacementShape& shape) {
  const Parallelism& split = job_.parallelism;
  const Training& training = job_.training;
  KeyWriter key;
  AddShape(split, key);
  key.Add(split.sharding, split.virtual_stages, training.precision,
          training.fp32_gradients, training.framework,
          training.offload_optimizer);
  auto& exchange = exchanges_[{key.key(), split.stage_layers}];
  if (exchange != nullptr) return exchange.get();
  absl::StatusOr<Exchange> cost = CostOfExchange(shape);
  if (!cost.ok()) return cost.status();
  exchange = std::make_unique<Exchange>(*std::move(cost));
  return exchange.get();
}

absl::StatusOr<NominalEvaluator::Exchange> NominalEvaluator::CostOfExchange(
    const PlacementShape& shape) const {
  const Cost cost(job_, cluster_, shape, constants_);
  const double slowdown = SlowestFactor(job_.parallelism.gpus(), variation_);
  Exchange exchange;
  exchange.model = TrafficOfModel(job_, cost);
  const int64_t last = job_.parallelism.pipeline - 1;
  for (int64_t stage = 0; stage <= last; ++stage) {
    const auto s = static_cast<size_t>(stage);
    // Inner stages that lie alike and hold as much are alike.
    const bool as_before =
        stage > 1 && stage < last &&
        shape.data_groups[s] == shape.data_groups[s - 1] &&
        LayersOfStage(job_, stage) == LayersOfStage(job_, stage - 1) &&
        (shape.twins.empty() || shape.twins[s] == shape.twins[s - 1]) &&
        (shape.shard_groups.empty() ||
         (shape.shard_groups[s] == shape.shard_groups[s - 1] &&
          shape.shard_copies[s] == shape.shard_copies[s - 1]));
    exchange.as_before.push_back(as_before);
    if (as_before) {
      exchange.closing.push_back(exchange.closing.back());
      continue;
    }
    const auto closing = CostOfClosing(job_, cost, slowdown, stage);
    if (!closing.ok()) return closing.status();
    exchange.closing.push_back(*closing);
  }
  return exchange;
}

void NominalEvaluator::AddTraffic(const ModelTraffic& traffic,
                                  PhaseParts& parts) const {
  const auto add = [&](const PartTraffic& of_part, KindSeconds& forward,
                       KindSeconds& backward) {
    forward[TaskKind::kDataCommunication] +=
        LeftOfForward(job_, of_part, forward.window(), constants_.overlap)
            .seconds;
    backward[TaskKind::kDataCommunication] +=
        LeftOfBackward(job_, of_part, backward.window(), constants_.overlap)
            .seconds;
  };
  add(traffic.layer, parts.forward.layer, parts.backward.layer);
  add(traffic.layer, parts.forward.recomputed_layer,
      parts.backward.recomputed_layer);
  add(traffic.embedding, parts.forward.embedding, parts.backward.embedding);
  add(traffic.head, parts.forward.head, parts.backward.head);
}

void NominalEvaluator::AddSum(KindSeconds parts, double offloaded,
                              double transfer, std::vector<size_t>& of) {
  of.push_back(sums_.different.size());
  Sum& sum = sums_.different.emplace_back();
  if (offloaded > 0) {
    parts.Add(
        estimate::SumOf(LeftOfOffload(offloaded, parts.total(), constants_)));
  }
  sum.by_kind = parts;
  sum.by_kind[TaskKind::kPipelineCommunication] += transfer;
  sum.total = sum.by_kind.total();
  sum.window = sum.by_kind.window();
}

void NominalEvaluator::SumVirtualStages(const PhaseParts& parts,
                                        const Transfers& transfers) {
  const Parallelism& split = job_.parallelism;
  const bool splits = SplitsBackward(split.schedule);
  // Over the boundary behind virtual stage u, where it holds anybody up.
  const auto transfer = [&](int64_t u) {
    const int64_t boundary = split.overlap.pipeline ? workload::kNoBoundary
                                                    : BoundaryBehind(split, u);
    return boundary == workload::kNoBoundary
               ? 0.0
               : transfers[static_cast<size_t>(boundary)];
  };
  sums_.different.clear();
  for (auto* of : {&sums_.forward, &sums_.backward, &sums_.weight}) of->clear();
  StageParts before;
  double there_before = 0, back_before = 0, back = 0;
  const bool even = split.stage_layers.empty() &&
                    job_.training.keep_microbatches == 0 &&
                    Chains(split.schedule) == 1;
  const int64_t last = VirtualStages(split) - 1;
  for (int64_t u = 0; u <= last; ++u) {
    const bool as_before = u > 1 && u < last && even;
    const StageParts held = as_before ? before : PartsOf(job_, u);
    const double there = transfer(u);
    if (u > 0 && held == before && there == there_before &&
        back == back_before) {
      for (auto* of : {&sums_.forward, &sums_.backward, &sums_.weight}) {
        if (!of->empty()) of->push_back(of->back());
      }
      back = there;
      continue;
    }
    const double moved = held.offloaded_bytes;
    AddSum(parts.forward.SumOf(held), moved, there, sums_.forward);
    AddSum((splits ? parts.backward_input : parts.backward).SumOf(held), moved,
           back, sums_.backward);
    if (splits) {
      AddSum(parts.backward_weight.SumOf(held), 0, 0, sums_.weight);
    }
    before = held, there_before = there, back_before = back;
    back = there;  // of the next
  }
}

void NominalEvaluator::SumClosings(const Exchange& exchange) {
  const auto pipeline = static_cast<size_t>(job_.parallelism.pipeline);
  sums_.closing.clear();
  double forward_before = 0, backward_before = 0;
  for (size_t stage = 0; stage < pipeline; ++stage) {
    double forward = 0, backward = 0;
    for (int64_t chunk = 0; chunk < job_.parallelism.virtual_stages; ++chunk) {
      const auto u = static_cast<size_t>(
          VirtualStageOf(job_.parallelism, static_cast<int64_t>(stage), chunk));
      forward += sums_.of_forward(u).window;
      backward += sums_.last_window(u);
    }
    if (exchange.as_before[stage] && forward == forward_before &&
        backward == backward_before) {
      sums_.closing.push_back(sums_.closing.back());
      continue;
    }
    sums_.closing.push_back(estimate::SumOf(ClosingTasks(
        job_, exchange.closing[stage], forward, backward, constants_.overlap)));
    forward_before = forward, backward_before = backward;
  }
}

double NominalEvaluator::HopBehind(const Transfers& transfers, size_t u) const {
  if (!job_.parallelism.overlap.pipeline) return 0;
  const int64_t boundary =
      BoundaryBehind(job_.parallelism, static_cast<int64_t>(u));
  return boundary == workload::kNoBoundary
             ? 0
             : transfers[static_cast<size_t>(boundary)];
}

const std::vector<double>& NominalEvaluator::StageEnds(
    const Transfers& transfers) {
  const step::PipelineShape shape = PipelineShapeOf(job_);
  times_.schedule = ScheduleOf(job_.parallelism.schedule);
  times_.stages = shape.stages;
  times_.chunks = shape.chunks;
  times_.microbatches = shape.microbatches;
  if (!PipelineClock::Runs(times_.schedule, shape.stages, shape.microbatches)) {
    return RunOrder(transfers);
  }
  times_.forward.clear();
  times_.backward.clear();
  times_.forward_hop.clear();
  for (size_t u = 0; u < sums_.forward.size(); ++u) {
    times_.forward.push_back(sums_.of_forward(u).total);
    times_.backward.push_back(sums_.of_backward(u).total);
    if (u + 1 == sums_.forward.size()) break;
    times_.forward_hop.push_back(HopBehind(transfers, u));
  }
  times_.backward_hop = times_.forward_hop;
  return clock_.StageEnds(times_);
}

const std::vector<double>& NominalEvaluator::RunOrder(
    const Transfers& transfers) {
  step::OperationTimes times;
  for (size_t u = 0; u < sums_.forward.size(); ++u) {
    times.forward.push_back(sums_.of_forward(u).total);
    times.backward.push_back(sums_.of_backward(u).total);
    times.weight.push_back(sums_.weight.empty() ? 0 : sums_.of_weight(u).total);
    if (u + 1 == sums_.forward.size()) break;
    times.hop.push_back(HopBehind(transfers, u));
  }
  if (job_.parallelism.schedule == workload::Schedule::kZeroBubbleAuto) {
    SearchOrder(times);
  }
  const absl::StatusOr<step::NominalRun> run =
      step::RunNominally(Order(), times);
  PRISM_CHECK(run.ok());
  ends_.clear();
  for (const step::StageRun& stage : run->stages) ends_.push_back(stage.end);
  return ends_;
}

// A micro-batch counts as one on every stage, until its weight part is done.
void NominalEvaluator::SearchOrder(const step::OperationTimes& times) {
  const Parallelism& split = job_.parallelism;
  const int64_t limit =
      split.activation_limit > 0 ? split.activation_limit : split.pipeline;
  const double size = 1.0 / times_.chunks;
  auto found = step::SearchOrder(
      {.stages = times_.stages,
       .chunks = times_.chunks,
       .microbatches = times_.microbatches,
       .times = times,
       .sizes = std::vector<step::ActivationSize>(
           times.forward.size(), {.whole = size, .for_weight = size})},
      {.memory = static_cast<double>(limit),
       .placements = FoldsPipeline(split) ? step::Placements::kFolded
                                          : step::Placements::kAny});
  PRISM_CHECK(found.ok());
  found_ = std::move(found->order);
}

const step::PipelineOrder& NominalEvaluator::Order() {
  return job_.parallelism.schedule == workload::Schedule::kZeroBubbleAuto
             ? found_
             : orders_.OrderOf(job_);
}

NominalTime NominalEvaluator::Assemble(const Transfers& transfers) {
  const std::vector<double>& ends = StageEnds(transfers);
  NominalTime time;
  size_t last = 0;
  for (size_t stage = 0; stage < ends.size(); ++stage) {
    const double end = ends[stage] + sums_.closing[stage].total();
    if (end > time.seconds) time.seconds = end, last = stage;
  }
  const auto microbatches = static_cast<double>(MicrobatchesOfChain(job_));
  for (int64_t chunk = 0; chunk < job_.parallelism.virtual_stages; ++chunk) {
    const auto u = static_cast<size_t>(
        VirtualStageOf(job_.parallelism, static_cast<int64_t>(last), chunk));
    time.by_kind.Add(sums_.of_forward(u).by_kind, microbatches);
    time.by_kind.Add(sums_.of_backward(u).by_kind, microbatches);
    if (!sums_.weight.empty()) {
      time.by_kind.Add(sums_.of_weight(u).by_kind, microbatches);
    }
  }
  time.by_kind.Add(sums_.closing[last]);
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
  const auto exchange = ExchangeOfJob(shape);
  if (!exchange.ok()) return exchange.status();
  const Transfers& transfers = TransfersOfJob(shape);
  if (IsShardedByLayer(parallelism)) {
    PhaseParts with_traffic = **parts;
    AddTraffic((*exchange)->model, with_traffic);
    SumVirtualStages(with_traffic, transfers);
  } else {
    SumVirtualStages(**parts, transfers);
  }
  SumClosings(**exchange);
  return Assemble(transfers);
}

}  // namespace prism::estimate
