#include <absl/strings/str_cat.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "core/estimate/job_order.h"
#include "core/query/limits.h"
#include "core/query/read_job_parts.h"
#include "core/step/schedule.h"
#include "core/workload/stages.h"

namespace prism::query {
namespace {

using workload::ContextKind;
using workload::Framework;
using workload::Overlap;
using workload::Parallelism;
using workload::RankOrder;
using workload::Schedule;
using workload::Sharding;

bool ShardsFully(Framework framework) {
  return framework == Framework::kFsdp || framework == Framework::kTorchtitan;
}

int64_t Group(uint32_t value, const FieldPath& path, Checker& checker) {
  return checker.BetweenOr(value, 1, 1, kMostRanks, path);
}

void ReadSizes(const prism::v1::Parallelism& m, Parallelism& split,
               const FieldPath& path, Checker& checker) {
  split.tensor = Group(m.tensor(), path.Field("tensor"), checker);
  split.sequence_parallel = m.sequence_parallel();
  split.context = Group(m.context(), path.Field("context"), checker);
  split.pipeline = Group(m.pipeline(), path.Field("pipeline"), checker);
  split.virtual_stages = checker.BetweenOr(
      m.virtual_stages(), 1, 1, kMostLayers, path.Field("virtual_stages"));
  split.data = Group(m.data(), path.Field("data"), checker);
}

ContextKind ReadContextKind(prism::v1::ContextKind value,
                            const Parallelism& split, const FieldPath& path,
                            Checker& checker) {
  const auto kind = checker.Choose<prism::v1::ContextKind, ContextKind>(
      value,
      {{prism::v1::CONTEXT_KIND_UNSPECIFIED, ContextKind::kRing},
       {prism::v1::CONTEXT_KIND_RING, ContextKind::kRing},
       {prism::v1::CONTEXT_KIND_ALL_GATHER, ContextKind::kAllGather},
       {prism::v1::CONTEXT_KIND_ALL_TO_ALL, ContextKind::kAllToAll}},
      path);
  return split.context > 1 ? kind : ContextKind::kRing;
}

Schedule ReadSchedule(prism::v1::Schedule value, const Parallelism& split,
                      const FieldPath& path, Checker& checker) {
  return checker.Choose<prism::v1::Schedule, Schedule>(
      value,
      {{prism::v1::SCHEDULE_UNSPECIFIED,
        split.virtual_stages > 1 ? Schedule::kInterleaved
                                 : Schedule::kOneForwardOneBackward},
       {prism::v1::SCHEDULE_ONE_FORWARD_ONE_BACKWARD,
        Schedule::kOneForwardOneBackward},
       {prism::v1::SCHEDULE_GPIPE, Schedule::kGpipe},
       {prism::v1::SCHEDULE_INTERLEAVED, Schedule::kInterleaved},
       {prism::v1::SCHEDULE_BREADTH_FIRST, Schedule::kBreadthFirst},
       {prism::v1::SCHEDULE_ZERO_BUBBLE_H1, Schedule::kZeroBubbleH1},
       {prism::v1::SCHEDULE_ZERO_BUBBLE_H2, Schedule::kZeroBubbleH2},
       {prism::v1::SCHEDULE_ZERO_BUBBLE_V, Schedule::kZeroBubbleV},
       {prism::v1::SCHEDULE_HALF_MEMORY_V, Schedule::kHalfMemoryV},
       {prism::v1::SCHEDULE_THIRD_MEMORY_V, Schedule::kThirdMemoryV},
       {prism::v1::SCHEDULE_DUAL_PIPE, Schedule::kDualPipe},
       {prism::v1::SCHEDULE_DUAL_PIPE_V, Schedule::kDualPipeV},
       {prism::v1::SCHEDULE_ZERO_BUBBLE_AUTOMATIC, Schedule::kZeroBubbleAuto}},
      path);
}

Sharding ReadSharding(prism::v1::Sharding value, Framework framework,
                      const FieldPath& path, Checker& checker) {
  return checker.Choose<prism::v1::Sharding, Sharding>(
      value,
      {{prism::v1::SHARDING_UNSPECIFIED,
        ShardsFully(framework) ? Sharding::kZero3 : Sharding::kNone},
       {prism::v1::SHARDING_NONE, Sharding::kNone},
       {prism::v1::SHARDING_ZERO1, Sharding::kZero1},
       {prism::v1::SHARDING_ZERO2, Sharding::kZero2},
       {prism::v1::SHARDING_ZERO3, Sharding::kZero3}},
      path);
}

RankOrder ReadRankOrder(prism::v1::RankOrder value, const FieldPath& path,
                        Checker& checker) {
  return checker.Choose<prism::v1::RankOrder, RankOrder>(
      value,
      {{prism::v1::RANK_ORDER_UNSPECIFIED, RankOrder::kTensorDataPipeline},
       {prism::v1::RANK_ORDER_TENSOR_DATA_PIPELINE,
        RankOrder::kTensorDataPipeline},
       {prism::v1::RANK_ORDER_TENSOR_PIPELINE_DATA,
        RankOrder::kTensorPipelineData}},
      path);
}

// Whether the sizes multiply to ranks that can be.
bool CheckRanks(const Parallelism& split, const FieldPath& path,
                Checker& checker) {
  // Two of the sizes multiply without overflow, four need not.
  const bool fits =
      split.tensor * split.context <= kMostRanks &&
      split.tensor * split.context * split.pipeline <= kMostRanks &&
      split.gpus() <= kMostRanks;
  return checker.Require(
      fits, path,
      absl::StrCat("has ", split.tensor, " * ", split.context, " * ",
                   split.pipeline, " * ", split.data,
                   " ranks (tensor * context * pipeline * data); must be at "
                   "most ",
                   kMostRanks));
}

bool IsClassic(Schedule schedule) {
  return schedule == Schedule::kGpipe ||
         schedule == Schedule::kOneForwardOneBackward;
}

// What the schedule takes, and what jobs have of it. Micro-batches are another
// matter (CheckTrainingSplit).
void CheckStages(const Parallelism& split, const FieldPath& path,
                 Checker& checker) {
  const step::ScheduleKind kind = estimate::ScheduleOf(split.schedule);
  const std::string name(step::NameOf(kind));
  if (!IsClassic(split.schedule)) {
    checker.Require(
        split.pipeline > 1, path.Field("pipeline"),
        absl::StrCat("is 1; must be above 1 for the ", name, " schedule"));
  }
  const int64_t chunks = split.virtual_stages;
  if (split.schedule == Schedule::kZeroBubbleAuto) {
    checker.Require(chunks <= 2, path.Field("virtual_stages"),
                    absl::StrCat("is ", chunks, "; must be 1 or 2 for the ",
                                 name, " schedule"));
  }
  for (const step::ShapeProblem& problem : step::CheckShape(
           kind, {.stages = static_cast<int>(split.pipeline),
                 .chunks = static_cast<int>(split.virtual_stages)})) {
    if (problem.size == step::ShapeProblem::Size::kChunks) {
      checker.Fail(path.Field("virtual_stages"), problem.what);
    } else if (problem.size == step::ShapeProblem::Size::kStages &&
               split.pipeline > 1) {
      checker.Fail(path.Field("pipeline"), problem.what);
    }
  }
}

// 0 where one copy takes all ranks.
int64_t ReadShardGroup(uint32_t value, const Parallelism& split,
                       const FieldPath& path, Checker& checker) {
  if (value == 0) return 0;
  if (!checker.Require(split.sharding != Sharding::kNone, path,
                       "is not allowed unless sharding is zero1, zero2 or "
                       "zero3")) {
    return 0;
  }
  const int64_t group = checker.Between(value, 1, kMostRanks, path);
  const int64_t ranks = split.gradient_ranks();
  checker.Require(
      ranks % group == 0, path,
      absl::StrCat("is ", group, "; must divide data * context, which is ",
                   ranks));
  return group == ranks ? 0 : group;
}

Overlap ReadOverlap(const prism::v1::Overlap& m, const Parallelism& split,
                    Framework framework) {
  const bool fully = ShardsFully(framework);
  const bool sends = framework == Framework::kMegatronCore &&
                     split.schedule == Schedule::kInterleaved;
  Overlap overlap;
  overlap.gradients = m.has_gradients() ? m.gradients() : fully;
  overlap.parameters = m.has_parameters() ? m.parameters() : fully;
  overlap.tensor =
      m.has_tensor() ? m.tensor()
                     : framework == Framework::kMegatronLm && split.tensor > 1;
  overlap.pipeline = m.has_pipeline() ? m.pipeline() : sends;
  return overlap;
}

// 0 where the schedule's own number of micro-batches is the limit.
int64_t ReadActivationLimit(uint32_t value, const Parallelism& split,
                            const FieldPath& path, Checker& checker) {
  if (value == 0) return 0;
  if (!checker.Require(split.schedule == Schedule::kZeroBubbleAuto, path,
                       "is not allowed unless schedule is zb-auto")) {
    return 0;
  }
  const int64_t limit = checker.Between(value, 1, kMostOperations, path);
  return limit == split.pipeline ? 0 : limit;
}

int64_t Sum(const std::vector<int64_t>& layers) {
  return std::accumulate(layers.begin(), layers.end(), int64_t{0});
}

// Only the ends have something else to do.
void CheckInnerStages(const std::vector<int64_t>& layers, const FieldPath& path,
                      Checker& checker) {
  for (size_t u = 1; u + 1 < layers.size(); ++u) {
    checker.Require(layers[u] > 0, path.Item(static_cast<int64_t>(u)),
                    "is 0; must be at least 1 but for the first and the last");
  }
}

// At least 1, whatever has been found wrong with the schedule.
int64_t ModelStagesOf(const Parallelism& split) {
  return std::max<int64_t>(1, ModelStages(split));
}

const char* StagesName(const Parallelism& split) {
  return Chains(split.schedule) > 1 ? "pipeline" : "pipeline * virtual_stages";
}

std::vector<int64_t> ReadGivenStages(const prism::v1::Parallelism& m,
                                     const Parallelism& split, int64_t layers,
                                     const FieldPath& path, Checker& checker) {
  const int64_t stages = ModelStagesOf(split);
  checker.Require(!m.embedding_as_layer() && !m.head_as_layer(), path,
                  "is not allowed together with embedding_as_layer or "
                  "head_as_layer");
  if (!checker.Require(
          m.stage_layers_size() == stages, path,
          absl::StrCat("has ", m.stage_layers_size(), " numbers; must have ",
                       StagesName(split), ", which is ", stages))) {
    return {};
  }
  const std::vector<int64_t> given(m.stage_layers().begin(),
                                   m.stage_layers().end());
  const int64_t sum = Sum(given);
  checker.Require(
      sum == layers, path,
      absl::StrCat("sums to ", sum, "; must sum to model.layers, which is ",
                   layers));
  CheckInnerStages(given, path, checker);
  return given;
}

// Split evenly, the embedding and the head counted where the message says so.
std::vector<int64_t> EvenStages(const prism::v1::Parallelism& m,
                                const Parallelism& split, int64_t layers,
                                const FieldPath& path, Checker& checker) {
  const int64_t stages = ModelStagesOf(split);
  const int64_t counted =
      layers + (m.embedding_as_layer() ? 1 : 0) + (m.head_as_layer() ? 1 : 0);
  if (counted % stages != 0) {
    checker.Fail(
        path.Field(m.embedding_as_layer() ? "embedding_as_layer"
                                          : "head_as_layer"),
        absl::StrCat("makes ", counted, " layers; must be divisible by ",
                     StagesName(split), ", which is ", stages));
    return {};
  }
  std::vector<int64_t> even(static_cast<size_t>(stages), counted / stages);
  if (m.embedding_as_layer()) --even.front();
  if (m.head_as_layer()) --even.back();
  return even;
}

}  // namespace

Parallelism ReadParallelism(const prism::v1::Parallelism& message,
                            const workload::Training& training,
                            const FieldPath& path, Checker& checker) {
  Parallelism split;
  ReadSizes(message, split, path, checker);
  split.context_kind = ReadContextKind(message.context_kind(), split,
                                       path.Field("context_kind"), checker);
  split.schedule =
      ReadSchedule(message.schedule(), split, path.Field("schedule"), checker);
  if (message.virtual_stages() == 0 && FoldsPipeline(split)) {
    split.virtual_stages = 2;
  }
  split.sharding = ReadSharding(message.sharding(), training.framework,
                                path.Field("sharding"), checker);
  split.activation_limit =
      ReadActivationLimit(message.activation_limit(), split,
                          path.Field("activation_limit"), checker);
  split.rank_order =
      ReadRankOrder(message.rank_order(), path.Field("rank_order"), checker);
  split.overlap = ReadOverlap(message.overlap(), split, training.framework);
  CheckStages(split, path, checker);
  if (CheckRanks(split, path, checker)) {
    split.shard_group = ReadShardGroup(message.shard_group(), split,
                                       path.Field("shard_group"), checker);
  }
  return split;
}

std::vector<int64_t> ReadStageLayers(const prism::v1::Parallelism& message,
                                     const Parallelism& split, int64_t layers,
                                     const FieldPath& path, Checker& checker) {
  const FieldPath of_split = path.Field("parallelism");
  std::vector<int64_t> found;
  if (message.stage_layers_size() > 0) {
    found = ReadGivenStages(message, split, layers,
                            of_split.Field("stage_layers"), checker);
  } else if (message.embedding_as_layer() || message.head_as_layer()) {
    found = EvenStages(message, split, layers, of_split, checker);
  } else {
    const FieldPath model = path.Field("model");
    checker.Divides(ModelStagesOf(split),
                    absl::StrCat("parallelism.", StagesName(split)), layers,
                    model.Field("layers"));
  }
  const bool alike = std::adjacent_find(found.begin(), found.end(),
                                        std::not_equal_to<>()) == found.end();
  return alike ? std::vector<int64_t>() : found;
}

}  // namespace prism::query
