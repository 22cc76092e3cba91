#include "core/estimate/part_costs.h"

#include <algorithm>
#include <utility>

#include "core/estimate/timed_stretch.h"
#include "core/workload/data_traffic.h"
#include "core/workload/parameters.h"
#include "core/workload/stages.h"

namespace prism::estimate {
namespace {

using hardware::LinkTime;
using workload::Collective;
using workload::CollectiveKind;
using workload::Job;
using workload::Recompute;
using workload::Stretches;

enum class Direction { kForward, kBackward };

// Times the stretches of one part, with what is left of collectives that run
// beside products or kernels.
class StretchTimer final {
 public:
  StretchTimer(const Job& job, const Cost& cost, double slowdown)
      : job_(job),
        cost_(cost),
        slowdown_(slowdown),
        framework_(CostsOf(job.training.framework, cost.constants())) {}

  absl::StatusOr<CostedTasks> Tasks(const Stretches& stretches,
                                    Direction direction) const {
    std::vector<TimedStretch> timed;
    for (size_t i = 0; i < stretches.size(); ++i) {
      const auto seconds = cost_.OperatorSeconds(stretches[i].operators);
      if (!seconds.ok()) return seconds.status();
      TimedStretch& time = timed.emplace_back();
      time.seconds = slowdown_ * *seconds;
      time.recompute = stretches[i].recompute;
      if (!stretches[i].then) continue;
      time.of_context = stretches[i].then->group == workload::Group::kContext;
      time.then = LeftOf(stretches, i, time.seconds, direction);
    }
    return TasksOf(JoinShortStretches(std::move(timed)));
  }

 private:
  LinkTime LeftOf(const Stretches& stretches, size_t i, double own_seconds,
                  Direction direction) const {
    const Collective& collective = *stretches[i].then;
    const LinkTime whole = cost_.CollectiveTime(collective);
    if (collective.beside) return BesideProducts(whole, own_seconds, 0);
    if (collective.group != workload::Group::kTensor) return whole;
    const double stays = ShareThatStays(stretches, i, direction);
    if (stays >= 1) return whole;
    return BesideProducts(whole, slowdown_ * ProductBeside(stretches, i),
                          stays);
  }

  double ShareThatStays(const Stretches& stretches, size_t i,
                        Direction direction) const {
    if (job_.parallelism.overlap.tensor) {
      return framework_.overlapped_collectives;
    }
    const bool own_backward =
        direction == Direction::kBackward && !stretches[i].recompute;
    return own_backward && IsOfLinearLayer(stretches, i)
               ? framework_.backward_collectives
               : 1;
  }

  // What a linear layer's backward does beside its own products: it gathers
  // its kept input beside the gradient of the input, whose sum over the group
  // runs beside the gradient of the weight. Gradients that come in are
  // gathered before it has anything to do.
  static bool IsOfLinearLayer(const Stretches& stretches, size_t i) {
    if (IsSum(*stretches[i].then)) return true;
    return i + 1 < stretches.size() && stretches[i + 1].then &&
           IsSum(*stretches[i + 1].then);
  }

  static bool IsSum(const Collective& collective) {
    return collective.group == workload::Group::kTensor &&
           (collective.kind == CollectiveKind::kAllReduce ||
            collective.kind == CollectiveKind::kReduceScatter);
  }

  // The product before a sum, or after what is gathered for it.
  double ProductBeside(const Stretches& stretches, size_t i) const {
    if (IsSum(*stretches[i].then)) {
      return cost_.ProductSeconds(stretches[i].operators).last;
    }
    if (i + 1 == stretches.size()) return 0;
    return cost_.ProductSeconds(stretches[i + 1].operators).first;
  }

  static CostedTasks TasksOf(const std::vector<TimedStretch>& stretches) {
    CostedTasks tasks;
    for (const TimedStretch& stretch : stretches) {
      tasks.push_back({.kind = stretch.recompute ? TaskKind::kRecompute
                                                 : TaskKind::kCompute,
                       .time = {.seconds = stretch.seconds}});
      if (!stretch.then) continue;
      tasks.push_back({.kind = stretch.of_context
                                   ? TaskKind::kContextCommunication
                                   : TaskKind::kTensorCommunication,
                       .meeting = Meeting::kLanes,
                       .time = *stretch.then});
    }
    return tasks;
  }

  const Job& job_;
  const Cost& cost_;
  double slowdown_;
  const calibration::FrameworkCosts& framework_;
};

// Traffic of the slowest stage.
Traffic SlowestTraffic(const Job& job, const Cost& cost,
                       const std::vector<Collective>& collectives) {
  Traffic slowest;
  if (collectives.empty()) return slowest;
  for (int64_t stage = 0; stage < job.parallelism.pipeline; ++stage) {
    const Traffic traffic = TrafficOf(collectives, cost, stage);
    if (traffic.time.seconds > slowest.time.seconds) slowest = traffic;
  }
  return slowest;
}

// Adds what a part exchanges with the data group in each forward or backward:
// `hidden` beside the part's own kernels, `open` after them.
void AddDataTraffic(const Job& job, const Cost& cost, const Traffic& hidden,
                    const Traffic& open, CostedTasks& tasks) {
  LinkTime left = BesideCompute(hidden, SumOf(tasks).compute(), 0,
                                cost.constants().overlap);
  left.seconds += open.time.seconds;
  left.latency_seconds += open.time.latency_seconds;
  if (left.seconds <= 0) return;
  // Stages of a pipeline do not keep step with those of other replicas.
  const bool meets = job.parallelism.pipeline == 1;
  tasks.push_back({.kind = TaskKind::kDataCommunication,
                   .meeting = meets ? Meeting::kReplicas : Meeting::kNobody,
                   .time = left});
}

void AddDataTraffic(const Job& job, const Cost& cost, double parameters,
                    PartCosts& part) {
  const workload::Overlap& overlap = job.parallelism.overlap;
  const auto add = [&](const std::vector<Collective>& collectives,
                       bool overlapped, Traffic& hidden, Traffic& open) {
    (overlapped ? hidden : open) += SlowestTraffic(job, cost, collectives);
  };
  Traffic hidden, open;
  add(ForwardTraffic(job, parameters), overlap.parameters, hidden, open);
  AddDataTraffic(job, cost, hidden, open, part.forward);
  hidden = open = {};
  const workload::TrafficAround backward = BackwardTraffic(job, parameters);
  add(backward.before, overlap.parameters, hidden, open);
  add(backward.after, overlap.gradients, hidden, open);
  AddDataTraffic(job, cost, hidden, open, part.backward);
}

absl::Status CostPart(const Stretches& forward, const Stretches& backward,
                      const StretchTimer& timer, PartCosts& part) {
  absl::StatusOr<CostedTasks> there = timer.Tasks(forward, Direction::kForward);
  if (!there.ok()) return there.status();
  absl::StatusOr<CostedTasks> back =
      timer.Tasks(backward, Direction::kBackward);
  if (!back.ok()) return back.status();
  part.forward = *std::move(there);
  part.backward = *std::move(back);
  return absl::OkStatus();
}

}  // namespace

Traffic TrafficOf(const std::vector<Collective>& collectives, const Cost& cost,
                  int64_t stage) {
  Traffic traffic;
  for (const Collective& collective : collectives) {
    traffic += {.time = cost.CollectiveTime(collective, stage),
                .link_seconds = cost.LinkSeconds(collective)};
  }
  return traffic;
}

absl::StatusOr<ModelCosts> CostOfModel(const Job& job, const Cost& cost,
                                       double slowdown) {
  const StretchTimer timer(job, cost, slowdown);
  const Recompute some = job.training.recompute == Recompute::kFull
                             ? Recompute::kNone
                             : job.training.recompute;
  ModelCosts model;
  absl::Status status =
      CostPart(LayerForward(job), LayerBackward(job, some), timer, model.layer);
  if (some != job.training.recompute) {
    status.Update(CostPart(LayerForward(job), LayerBackward(job), timer,
                           model.recomputed_layer));
  }
  status.Update(CostPart(EmbeddingForward(job), EmbeddingBackward(job), timer,
                         model.embedding));
  status.Update(
      CostPart(HeadForward(job), HeadBackward(job), timer, model.head));
  if (!status.ok()) return status;
  const int64_t t = job.parallelism.tensor;
  const double layer = LayerParameters(job.model).per_gpu(t);
  AddDataTraffic(job, cost, layer, model.layer);
  AddDataTraffic(job, cost, layer, model.recomputed_layer);
  if (job.parallelism.sharding != workload::Sharding::kZero3) {
    AddDataTraffic(job, cost, EmbeddingParameters(job.model).per_gpu(t),
                   model.embedding);
    AddDataTraffic(job, cost, HeadParameters(job.model).per_gpu(t), model.head);
  }
  return model;
}

StageParts PartsOf(const Job& job, int64_t virtual_stage) {
  const workload::Parallelism& split = job.parallelism;
  const int64_t last = split.pipeline * split.virtual_stages - 1;
  const int64_t again = workload::RecomputedLayers(job, virtual_stage);
  return {.layers = workload::LayersOfVirtualStage(job, virtual_stage) - again,
          .recomputed_layers = again,
          .embedding = virtual_stage == 0,
          .head = virtual_stage == last};
}

CostedTask CostOfTransfer(const Job& job, const Cost& cost, int64_t stage) {
  const bool gathered = StageBoundary(job).gathered_bytes > 0;
  return {.kind = TaskKind::kPipelineCommunication,
          .meeting = gathered ? Meeting::kLanes : Meeting::kNobody,
          .time = cost.BoundaryTime(stage)};
}

CostedTasks CostOfHostOperation(const Job& job,
                                const calibration::Constants& constants) {
  const double seconds =
      CostsOf(job.training.framework, constants).operation_seconds;
  if (seconds <= 0) return {};
  return {{.kind = TaskKind::kHost, .time = {.seconds = seconds}}};
}

}  // namespace prism::estimate
