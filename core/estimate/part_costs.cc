#include "core/estimate/part_costs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/estimate/held_activations.h"
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

  absl::StatusOr<CostedTasks> Forward(const Stretches& stretches) const {
    const auto timed = Time(stretches, Direction::kForward);
    if (!timed.ok()) return timed.status();
    return TasksOf(JoinShortStretches(timed->whole));
  }

  // Of `part`, all but the forward.
  absl::Status Backward(const Stretches& stretches, PartCosts& part) const {
    auto timed = Time(stretches, Direction::kBackward);
    if (!timed.ok()) return timed.status();
    part.backward = TasksOf(JoinShortStretches(std::move(timed->whole)));
    part.backward_input = TasksOf(JoinShortStretches(std::move(timed->input)));
    part.backward_weight =
        TasksOf(JoinShortStretches(std::move(timed->weight)));
    return absl::OkStatus();
  }

 private:
  struct Timed {
    std::vector<TimedStretch> whole;
    std::vector<TimedStretch> input;
    std::vector<TimedStretch> weight;
  };

  absl::StatusOr<Timed> Time(const Stretches& stretches,
                             Direction direction) const {
    Timed timed;
    for (size_t i = 0; i < stretches.size(); ++i) {
      const auto whole = cost_.OperatorSeconds(stretches[i].operators);
      if (!whole.ok()) return whole.status();
      const auto weight = cost_.OperatorSeconds(OfWeights(stretches[i]));
      if (!weight.ok()) return weight.status();
      TimedStretch time;
      time.seconds = slowdown_ * *whole;
      time.recompute = stretches[i].recompute;
      if (stretches[i].then) {
        time.of_context = stretches[i].then->group == workload::Group::kContext;
        time.then = LeftOf(stretches, i, time.seconds, direction);
      }
      timed.whole.push_back(time);
      if (direction == Direction::kForward) continue;
      Divide(time, slowdown_ * *weight, TooLong(stretches, i, time, direction),
             stretches[i].then && stretches[i].then->of_weights, timed);
    }
    return timed;
  }

  static std::vector<workload::Operator> OfWeights(
      const workload::Stretch& stretch) {
    std::vector<workload::Operator> operators;
    for (const workload::Operator& op : stretch.operators) {
      if (op.of_weights) operators.push_back(op);
    }
    return operators;
  }

  // Where a collective runs beside a product of the other part: what of it the
  // product is too short to hide. It counts to that part, so that neither gets
  // longer as the other gets shorter.
  LinkTime TooLong(const Stretches& stretches, size_t i,
                   const TimedStretch& time, Direction direction) const {
    if (!time.then || stretches[i].then->beside ||
        stretches[i].then->group != workload::Group::kTensor) {
      return {};
    }
    const double stays = ShareThatStays(stretches, i, direction);
    const Collective& collective = *stretches[i].then;
    if (stays >= 1 ||
        IsProductBesideOfWeights(stretches, i) == collective.of_weights) {
      return {};
    }
    const double seconds =
        time.then->seconds - stays * cost_.CollectiveTime(collective).seconds;
    if (seconds <= 0) return {};
    return time.then->Part(seconds / time.then->seconds);
  }

  // What is in neither part is left out.
  static void Divide(const TimedStretch& time, double weight_seconds,
                     const LinkTime& too_long, bool meets_for_weights,
                     Timed& timed) {
    TimedStretch input = time, weight = time;
    input.seconds -= weight_seconds;
    weight.seconds = weight_seconds;
    TimedStretch& own = meets_for_weights ? weight : input;
    TimedStretch& other = meets_for_weights ? input : weight;
    other.then.reset();
    if (too_long.seconds > 0) {
      *own.then += too_long.Part(-1);
      other.then = too_long;
    }
    const auto add = [](const TimedStretch& part,
                        std::vector<TimedStretch>& parts) {
      if (part.seconds > 0 || part.then) parts.push_back(part);
    };
    add(input, timed.input);
    add(weight, timed.weight);
  }

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
    const bool backward =
        direction == Direction::kBackward && !stretches[i].recompute;
    if (job_.parallelism.overlap.tensor) {
      return backward && IsOfLinearLayer(stretches, i)
                 ? framework_.overlapped_backward
                 : framework_.overlapped_forward;
    }
    return backward && IsOfLinearLayer(stretches, i)
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

  static bool IsProductBesideOfWeights(const Stretches& stretches, size_t i) {
    const bool is_sum = IsSum(*stretches[i].then);
    if (!is_sum && i + 1 == stretches.size()) return false;
    bool of_weights = false, has_product = false;
    for (const workload::Operator& op :
         stretches[is_sum ? i : i + 1].operators) {
      if (op.kind != workload::OperatorKind::kMatrixProduct) continue;
      if (is_sum || !has_product) of_weights = op.of_weights;
      has_product = true;
    }
    return of_weights;
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

// The weights of a part are gathered in `pieces` collectives.
Traffic InPieces(const Job& job, const Cost& cost,
                 std::vector<Collective> collectives, double pieces) {
  for (Collective& collective : collectives) collective.bytes /= pieces;
  const Traffic piece = SlowestTraffic(job, cost, collectives);
  return {.time = piece.time.Part(pieces),
          .link_seconds = pieces * piece.link_seconds};
}

PartTraffic TrafficOfPart(const Job& job, const Cost& cost, double parameters) {
  const double pieces =
      CostsOf(job.training.framework, cost.constants()).sharded_pieces;
  const workload::TrafficAround backward = BackwardTraffic(job, parameters);
  return {.forward_gather =
              InPieces(job, cost, ForwardTraffic(job, parameters), pieces),
          .backward_gather = InPieces(job, cost, backward.before, pieces),
          .reduction = InPieces(job, cost, backward.after, pieces)};
}

// `overlapped` beside `window_seconds`, the rest after it.
class DataTime final {
 public:
  void Add(const Traffic& traffic, bool overlapped) {
    (overlapped ? hidden_ : open_) += traffic;
  }
  LinkTime Left(double window_seconds,
                const calibration::OverlapCosts& overlap) const {
    LinkTime left = BesideCompute(hidden_, window_seconds, 0, overlap);
    left += open_.time;
    return left;
  }

 private:
  Traffic hidden_;
  Traffic open_;
};

void AddTask(const Job& job, const LinkTime& left, CostedTasks& tasks) {
  if (left.seconds <= 0) return;
  // Stages of a pipeline do not keep step with those of other replicas.
  const bool meets = job.parallelism.pipeline == 1;
  tasks.push_back({.kind = TaskKind::kDataCommunication,
                   .meeting = meets ? Meeting::kReplicas : Meeting::kNobody,
                   .time = left});
}

void AddTraffic(const Job& job, const PartTraffic& traffic,
                const calibration::OverlapCosts& overlap, PartCosts& part) {
  const double forward = SumOf(part.forward).window();
  const double backward = SumOf(part.backward).window();
  AddTask(job, LeftOfForward(job, traffic, forward, overlap), part.forward);
  AddTask(job, LeftOfBackward(job, traffic, backward, overlap), part.backward);
}

// Adds what a layer takes longer because its kernels must be launched, and the
// tensor group's collectives by the latest of its hosts.
class HostTimer final {
 public:
  HostTimer(const Job& job, const calibration::Constants& constants)
      : framework_(CostsOf(job.training.framework, constants)),
        sharpness_(constants.host.sharpness),
        others_(static_cast<double>(job.parallelism.tensor - 1)) {}

  void Add(bool recomputes, PartCosts& part) const {
    AddTask(Excess(framework_.layer_forward_seconds, part.forward),
            part.forward);
    const double kernels = SumOf(part.backward).total();
    const double backward =
        Excess(framework_.layer_backward_seconds +
                   (recomputes ? framework_.layer_forward_seconds : 0),
               part.backward);
    AddTask(backward, part.backward);
    for (CostedTasks* tasks : {&part.backward_input, &part.backward_weight}) {
      AddTask(backward * SumOf(*tasks).total() / kernels, *tasks);
    }
  }

 private:
  static void AddTask(double seconds, CostedTasks& tasks) {
    if (seconds <= 0) return;
    tasks.push_back({.kind = TaskKind::kHost, .time = {.seconds = seconds}});
  }

  // What `tasks` take longer.
  double Excess(double host, const CostedTasks& tasks) const {
    const auto meetings =
        std::count_if(tasks.begin(), tasks.end(), [](const CostedTask& task) {
          return task.kind == TaskKind::kTensorCommunication;
        });
    host += static_cast<double>(meetings) * framework_.late_host_seconds *
            others_ * others_;
    if (host <= 0) return 0;
    const double kernels = SumOf(tasks).total();
    const double both =
        std::pow(std::pow(kernels, sharpness_) + std::pow(host, sharpness_),
                 1 / sharpness_);
    return both - kernels;
  }

  const calibration::FrameworkCosts& framework_;
  double sharpness_;
  double others_;
};

absl::Status CostPart(const Stretches& forward, const Stretches& backward,
                      const StretchTimer& timer, PartCosts& part) {
  absl::StatusOr<CostedTasks> there = timer.Forward(forward);
  if (!there.ok()) return there.status();
  part.forward = *std::move(there);
  return timer.Backward(backward, part);
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

absl::StatusOr<ModelCosts> CostOfOperators(const Job& job, const Cost& cost,
                                           double slowdown) {
  const StretchTimer timer(job, cost, slowdown);
  const bool again = job.training.recompute == Recompute::kFull;
  const Recompute some = again ? Recompute::kNone : job.training.recompute;
  ModelCosts model;
  absl::Status status =
      CostPart(LayerForward(job), LayerBackward(job, some), timer, model.layer);
  if (again) {
    status.Update(CostPart(LayerForward(job), LayerBackward(job), timer,
                           model.recomputed_layer));
  }
  status.Update(CostPart(EmbeddingForward(job), EmbeddingBackward(job), timer,
                         model.embedding));
  status.Update(
      CostPart(HeadForward(job), HeadBackward(job), timer, model.head));
  if (!status.ok()) return status;
  const HostTimer host(job, cost.constants());
  host.Add(false, model.layer);
  if (again) host.Add(true, model.recomputed_layer);
  return model;
}

// Where layers are sharded whole, the rest of the model is part of the closing
// (closing_costs.cc).
ModelTraffic TrafficOfModel(const Job& job, const Cost& cost) {
  const int64_t t = job.parallelism.tensor;
  ModelTraffic traffic;
  traffic.layer =
      TrafficOfPart(job, cost, LayerParameters(job.model).per_gpu(t));
  if (job.parallelism.sharding == workload::Sharding::kZero3) return traffic;
  traffic.embedding =
      TrafficOfPart(job, cost, EmbeddingParameters(job.model).per_gpu(t));
  traffic.head = TrafficOfPart(job, cost, HeadParameters(job.model).per_gpu(t));
  return traffic;
}

LinkTime LeftOfForward(const Job& job, const PartTraffic& traffic,
                       double window_seconds,
                       const calibration::OverlapCosts& overlap) {
  DataTime time;
  time.Add(traffic.forward_gather, job.parallelism.overlap.parameters);
  return time.Left(window_seconds, overlap);
}

LinkTime LeftOfBackward(const Job& job, const PartTraffic& traffic,
                        double window_seconds,
                        const calibration::OverlapCosts& overlap) {
  DataTime time;
  time.Add(traffic.backward_gather, job.parallelism.overlap.parameters);
  time.Add(traffic.reduction, job.parallelism.overlap.gradients);
  return time.Left(window_seconds, overlap);
}

absl::StatusOr<ModelCosts> CostOfModel(const Job& job, const Cost& cost,
                                       double slowdown) {
  absl::StatusOr<ModelCosts> model = CostOfOperators(job, cost, slowdown);
  if (!model.ok()) return model;
  const ModelTraffic traffic = TrafficOfModel(job, cost);
  const calibration::OverlapCosts& overlap = cost.constants().overlap;
  AddTraffic(job, traffic.layer, overlap, model->layer);
  AddTraffic(job, traffic.layer, overlap, model->recomputed_layer);
  AddTraffic(job, traffic.embedding, overlap, model->embedding);
  AddTraffic(job, traffic.head, overlap, model->head);
  return model;
}

StageParts PartsOf(const Job& job, int64_t virtual_stage) {
  const workload::Parallelism& split = job.parallelism;
  const double again =
      static_cast<double>(workload::RecomputedLayers(job, virtual_stage)) *
      workload::RecomputingShare(job, StageOf(split, virtual_stage));
  const auto layers =
      static_cast<double>(workload::LayersOfVirtualStage(job, virtual_stage));
  return {.layers = layers - again,
          .recomputed_layers = again,
          .embedding = HasEmbedding(split, virtual_stage),
          .head = HasHead(split, virtual_stage),
          .offloaded_bytes = OffloadedBytes(job, virtual_stage)};
}

CostedTasks LeftOfOffload(double bytes, double window_seconds,
                          const calibration::Constants& constants) {
  const double left =
      bytes / constants.host.link_bytes_per_second - window_seconds;
  if (left <= 0) return {};
  return {{.kind = TaskKind::kOffload, .time = {.seconds = left}}};
}

// The lanes of the next stage meet before long: who waits for the last of them
// to send may as well wait here.
CostedTask CostOfTransfer(const Cost& cost, int64_t stage) {
  return {.kind = TaskKind::kPipelineCommunication,
          .meeting = Meeting::kLanes,
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
