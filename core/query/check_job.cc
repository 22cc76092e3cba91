#include <absl/strings/str_cat.h>

#include "core/estimate/job_order.h"
#include "core/query/limits.h"
#include "core/query/read_job_parts.h"
#include "core/step/schedule.h"
#include "core/workload/stages.h"

namespace prism::query {
namespace {

using workload::ContextKind;
using workload::Job;
using workload::Model;
using workload::Parallelism;
using workload::Schedule;
using workload::Training;

// Ranks that split heads, and what to call them.
struct HeadSplit {
  int64_t ranks = 1;
  const char* name = "parallelism.tensor";
};

HeadSplit HeadSplitOf(const Parallelism& split) {
  if (split.context == 1 || split.context_kind != ContextKind::kAllToAll) {
    return {.ranks = split.tensor};
  }
  return {split.tensor * split.context,
          "parallelism.tensor * context with context_kind all-to-all"};
}

void CheckHeads(const Job& job, const FieldPath& path, Checker& checker) {
  const Model& model = job.model;
  const HeadSplit split = HeadSplitOf(job.parallelism);
  checker.Divides(split.ranks, split.name, model.heads, path.Field("heads"));
  if (model.kv_heads % split.ranks == 0) return;
  checker.Require(
      split.ranks % model.kv_heads == 0, path.Field("kv_heads"),
      absl::StrCat("is ", model.kv_heads, "; must be a multiple or a divisor ",
                   "of ", split.name, ", which is ", split.ranks));
}

void CheckMicrobatches(const Job& job, const FieldPath& path,
                       Checker& checker) {
  const Parallelism& split = job.parallelism;
  const int64_t microbatches = job.microbatches();
  for (const step::ShapeProblem& problem :
       step::CheckShape(estimate::ScheduleOf(split.schedule),
                        estimate::PipelineShapeOf(job))) {
    if (problem.size != step::ShapeProblem::Size::kMicrobatches) continue;
    checker.Fail(
        path, absl::StrCat("gives micro-batches whose number ", problem.what));
  }
  if (split.schedule == Schedule::kZeroBubbleAuto) {
    const int64_t stages = VirtualStages(split);
    const int64_t operations = stages * microbatches;
    checker.Require(
        operations <= kMostSearchedOperations, path,
        absl::StrCat("gives ", microbatches, " micro-batches on ", stages,
                     " stages, which is ", operations,
                     " of both; must be at most ", kMostSearchedOperations,
                     " for the zb-auto schedule"));
  }
  CheckPipelineSize({split.pipeline, split.virtual_stages, microbatches}, path,
                    checker);
}

// Which micro-batches are in flight is known of two schedules, and
// interleaved of whole rounds.
void CheckKeptMicrobatches(const Job& job, const FieldPath& path,
                           Checker& checker) {
  if (job.training.keep_microbatches == 0) return;
  const Parallelism& split = job.parallelism;
  const bool interleaved = split.schedule == Schedule::kInterleaved;
  checker.Require(
      interleaved || split.schedule == Schedule::kOneForwardOneBackward, path,
      "is not allowed unless schedule is 1f1b or interleaved");
  if (interleaved) {
    checker.Require(
        job.microbatches() % split.pipeline == 0, path,
        absl::StrCat("is not allowed with schedule interleaved unless the ",
                     job.microbatches(),
                     " micro-batches are divisible by parallelism.pipeline, "
                     "which is ",
                     split.pipeline));
  }
}

void CheckSequence(const Job& job, const FieldPath& path, Checker& checker) {
  const Parallelism& split = job.parallelism;
  const bool both = split.sequence_parallel && split.context > 1;
  const int64_t ranks =
      split.context * (split.sequence_parallel ? split.tensor : 1);
  const char* name = both                      ? "parallelism.tensor * context"
                     : split.sequence_parallel ? "parallelism.tensor"
                                               : "parallelism.context";
  checker.Divides(ranks, name, job.training.sequence, path);
}

}  // namespace

void CheckModelSplit(const Job& job, const FieldPath& path, Checker& checker) {
  const FieldPath model = path.Field("model");
  CheckHeads(job, model, checker);
  checker.Divides(job.parallelism.tensor, "parallelism.tensor",
                  job.model.ffn_hidden, model.Field("ffn_hidden"));
}

void CheckTrainingSplit(const Job& job, const FieldPath& path,
                        Checker& checker) {
  const FieldPath fields = path.Field("training");
  const Training& training = job.training;
  const FieldPath batch = fields.Field("global_batch");
  const int64_t at_once = training.micro_batch * job.parallelism.data;
  checker.Divides(at_once, "training.micro_batch * parallelism.data",
                  training.global_batch, batch);
  if (training.global_batch % at_once == 0) {
    CheckMicrobatches(job, batch, checker);
    CheckKeptMicrobatches(job, fields.Field("keep_microbatches"), checker);
  }
  CheckSequence(job, fields.Field("sequence"), checker);
}

}  // namespace prism::query
