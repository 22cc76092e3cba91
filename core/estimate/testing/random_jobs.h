// Random valid jobs of one model, for property tests and benchmarks.
#ifndef PRISM_CORE_ESTIMATE_TESTING_RANDOM_JOBS_H_
#define PRISM_CORE_ESTIMATE_TESTING_RANDOM_JOBS_H_

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "core/estimate/job_order.h"
#include "core/step/schedule.h"
#include "core/workload/job.h"
#include "core/workload/stages.h"

namespace prism::estimate::testing {

// What differs between jobs: how one training is laid out, or all of it.
enum class Vary { kLayout, kAll };

inline std::vector<workload::Schedule> AllSchedules() {
  std::vector<workload::Schedule> schedules;
  for (int i = 0; i <= static_cast<int>(workload::Schedule::kZeroBubbleAuto);
       ++i) {
    schedules.push_back(static_cast<workload::Schedule>(i));
  }
  return schedules;
}

class RandomJobs final {
 public:
  // Jobs of `model` that fill `gpus` GPUs with `global_batch` sequences, which
  // is a multiple of gpus. Requires: sizes of the model and `gpus` have common
  // powers of two.
  RandomJobs(const workload::Model& model, int64_t gpus, int64_t global_batch,
             Vary vary, uint32_t seed)
      : vary_(vary),
        model_(model),
        gpus_(gpus),
        global_batch_(global_batch),
        random_(seed) {}

  // Draws schedules among these alone.
  void Among(std::vector<workload::Schedule> schedules) {
    schedules_ = std::move(schedules);
  }

  workload::Job Next() {
    for (;;) {
      workload::Job job = Draw();
      if (Valid(job)) return job;
    }
  }

 private:
  template <typename Value>
  Value OneOf(const std::vector<Value>& values) {
    return values[std::uniform_int_distribution<size_t>(
        0, values.size() - 1)(random_)];
  }
  bool Coin() { return OneOf<int>({0, 1}) == 1; }

  workload::Job Draw() {
    workload::Job job;
    job.model = model_;
    workload::Parallelism& split = job.parallelism;
    split.tensor = OneOf<int64_t>({1, 2, 4, 8, 16});
    split.pipeline = OneOf<int64_t>({1, 2, 4, 8, 16, 32});
    split.sequence_parallel = split.tensor > 1 && Coin();
    split.context = OneOf<int64_t>({1, 1, 1, 2, 4});
    split.context_kind = OneOf<workload::ContextKind>(
        {workload::ContextKind::kRing, workload::ContextKind::kAllGather});
    split.data = gpus_ / (split.tensor * split.context * split.pipeline);
    DrawSchedule(split);
    split.sharding = OneOf<workload::Sharding>(
        {workload::Sharding::kNone, workload::Sharding::kZero1,
         workload::Sharding::kZero2, workload::Sharding::kZero3});
    if (split.sharding != workload::Sharding::kNone) {
      split.shard_group = OneOf<int64_t>({0, 0, 2, 8});
    }
    split.overlap = {.gradients = Coin(),
                     .parameters = Coin(),
                     .tensor = Coin(),
                     .pipeline = Coin()};
    if (Coin()) DrawStageLayers(job);
    split.rank_order =
        OneOf<workload::RankOrder>({workload::RankOrder::kTensorDataPipeline,
                                    workload::RankOrder::kTensorPipelineData});
    workload::Training& training = job.training;
    training.sequence = 2048;
    training.global_batch = global_batch_;
    training.micro_batch = OneOf<int64_t>({1, 2, 4, 8});
    training.recompute = OneOf<workload::Recompute>(
        {workload::Recompute::kNone, workload::Recompute::kSelective,
         workload::Recompute::kFull});
    if (training.recompute == workload::Recompute::kFull && Coin()) {
      training.recompute_layers = OneOf<int64_t>({0, 1, 2});
    }
    if (vary_ == Vary::kAll) {
      DrawTraining(training);
      DrawActivations(job, training);
    }
    return job;
  }

  void DrawSchedule(workload::Parallelism& split) {
    using workload::Schedule;
    split.schedule = OneOf(schedules_);
    if (split.schedule == Schedule::kInterleaved ||
        split.schedule == Schedule::kBreadthFirst) {
      split.virtual_stages = OneOf<int64_t>({2, 3, 4, 6, 12});
    } else if (FoldsPipeline(split)) {
      split.virtual_stages = 2;
    } else if (split.schedule == Schedule::kZeroBubbleAuto) {
      split.virtual_stages = OneOf<int64_t>({1, 2});
    }
  }

  void DrawActivations(const workload::Job& job, workload::Training& training) {
    if (Coin()) training.offload_activations = OneOf<double>({0.3, 1});
    using workload::Schedule;
    const Schedule schedule = job.parallelism.schedule;
    if (training.recompute != workload::Recompute::kFull) return;
    if (schedule == Schedule::kOneForwardOneBackward ||
        schedule == Schedule::kInterleaved) {
      training.keep_microbatches = OneOf<int64_t>({0, 1, 3});
    }
  }

  void DrawTraining(workload::Training& training) {
    training.attention = OneOf<workload::Attention>(
        {workload::Attention::kFlash, workload::Attention::kUnfused});
    training.fp32_gradients = Coin();
    training.framework = OneOf<workload::Framework>(
        {workload::Framework::kMegatronLm, workload::Framework::kMegatronCore,
         workload::Framework::kFsdp, workload::Framework::kTorchtitan});
    training.compiled = Coin();
    training.dropout = Coin();
    training.fused_cross_entropy = Coin();
    training.offload_optimizer = Coin();
  }

  // A layer less at each end, and one more on stages in between.
  void DrawStageLayers(workload::Job& job) {
    workload::Parallelism& split = job.parallelism;
    const int64_t stages = ModelStages(split);
    if (stages < 4 || model_.layers % stages != 0) return;
    split.stage_layers.assign(static_cast<size_t>(stages),
                              model_.layers / stages);
    --split.stage_layers.front();
    --split.stage_layers.back();
    ++split.stage_layers[1];
    ++split.stage_layers[2];
  }

  bool Valid(const workload::Job& job) const {
    const workload::Parallelism& split = job.parallelism;
    const workload::Training& training = job.training;
    if (split.data < 1 || split.gpus() != gpus_) return false;
    if (model_.heads % split.tensor != 0) return false;
    if (split.shard_group > 0 &&
        split.gradient_ranks() % split.shard_group != 0) {
      return false;
    }
    // As core/query checks them.
    const bool classic =
        split.schedule == workload::Schedule::kGpipe ||
        split.schedule == workload::Schedule::kOneForwardOneBackward;
    if (split.pipeline == 1 && !classic) return false;
    if (model_.layers % ModelStages(split) != 0) return false;
    const int64_t at_once = training.micro_batch * split.data;
    if (training.global_batch % at_once != 0) return false;
    if (training.keep_microbatches > 0 &&
        job.microbatches() % split.pipeline != 0) {
      return false;
    }
    return step::CheckShape(ScheduleOf(split.schedule), PipelineShapeOf(job))
        .empty();
  }

  Vary vary_;
  std::vector<workload::Schedule> schedules_ = AllSchedules();
  workload::Model model_;
  int64_t gpus_;
  int64_t global_batch_;
  std::mt19937 random_;
};

}  // namespace prism::estimate::testing

#endif  // PRISM_CORE_ESTIMATE_TESTING_RANDOM_JOBS_H_
