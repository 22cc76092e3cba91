// Parts of a job, and the relations between them. ReadJob() puts them together.
//
// What is returned is valid in itself if no check failed; CheckJob() says
// whether the parts fit each other.
#ifndef PRISM_CORE_QUERY_READ_JOB_PARTS_H_
#define PRISM_CORE_QUERY_READ_JOB_PARTS_H_

#include <cstdint>
#include <vector>

#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "core/workload/job.h"
#include "prism/v1/job.pb.h"

namespace prism::query {

inline constexpr int64_t kMostLayers = 10'000;
// Feed-forward, vocabulary, sequence, micro-batch.
inline constexpr int64_t kLargestSize = 1 << 24;

workload::Model ReadModel(const prism::v1::Model& message,
                          const FieldPath& path, Checker& checker);

// `model` decides what is assumed of it where the message is silent.
workload::Training ReadTraining(const prism::v1::Training& message,
                                const workload::Model& model,
                                const FieldPath& path, Checker& checker);

// All but `stage_layers`. The framework of `training` has the defaults.
workload::Parallelism ReadParallelism(const prism::v1::Parallelism& message,
                                      const workload::Training& training,
                                      const FieldPath& path, Checker& checker);

// Layers of each virtual stage; empty where they are all alike. `split` has
// everything else; `path` is the job's.
std::vector<int64_t> ReadStageLayers(const prism::v1::Parallelism& message,
                                     const workload::Parallelism& split,
                                     int64_t layers, const FieldPath& path,
                                     Checker& checker);

// Relations between a model, or a training, and how it is split. `path` is the
// job's.
void CheckModelSplit(const workload::Job& job, const FieldPath& path,
                     Checker& checker);
void CheckTrainingSplit(const workload::Job& job, const FieldPath& path,
                        Checker& checker);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_READ_JOB_PARTS_H_
