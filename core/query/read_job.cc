#include "core/query/read_job.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/query/read_job_parts.h"
#include "core/workload/stages.h"

namespace prism::query {
namespace {

void CheckPositions(const workload::Job& job, const FieldPath& path,
                    Checker& checker) {
  const int64_t positions = job.model.position_embeddings;
  checker.Require(
      positions == 0 || job.training.sequence <= positions, path,
      absl::StrCat("is ", job.training.sequence,
                   "; must be at most model.position_embeddings, which is ",
                   positions));
}

// Layers to compute again that every stage has anyway are all of them.
void DropIdleLimit(workload::Job& job) {
  const workload::Parallelism& split = job.parallelism;
  const int64_t most =
      split.stage_layers.empty()
          ? job.model.layers / std::max<int64_t>(1, ModelStages(split))
          : *std::max_element(split.stage_layers.begin(),
                              split.stage_layers.end());
  std::optional<int64_t>& limit = job.training.recompute_layers;
  if (limit && *limit >= most) limit.reset();
}

}  // namespace

workload::Job ReadJob(const prism::v1::Job& message, const FieldPath& path,
                      Checker& checker) {
  const FieldPath model = path.Field("model");
  const FieldPath training = path.Field("training");
  const bool has_model =
      checker.Require(message.has_model(), model, "is missing");
  const bool has_training =
      checker.Require(message.has_training(), training, "is missing");
  workload::Job job;
  if (has_model) job.model = ReadModel(message.model(), model, checker);
  if (has_training) {
    job.training =
        ReadTraining(message.training(), job.model, training, checker);
  }
  job.parallelism = ReadParallelism(message.parallelism(), job.training,
                                    path.Field("parallelism"), checker);
  if (has_model) {
    job.parallelism.stage_layers =
        ReadStageLayers(message.parallelism(), job.parallelism,
                        job.model.layers, path, checker);
    CheckModelSplit(job, path, checker);
  }
  if (has_training) CheckTrainingSplit(job, path, checker);
  if (has_model && has_training) {
    CheckPositions(job, training.Field("sequence"), checker);
  }
  DropIdleLimit(job);
  return job;
}

}  // namespace prism::query
