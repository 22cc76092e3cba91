// Jobs, clusters and placements of messages as checked values.
//
// What is returned is valid if no check failed.
#ifndef PRISM_CORE_QUERY_READ_JOB_H_
#define PRISM_CORE_QUERY_READ_JOB_H_

#include "core/estimate/placement.h"
#include "core/hardware/cluster.h"
#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "core/workload/job.h"
#include "prism/v1/cluster.pb.h"
#include "prism/v1/job.pb.h"
#include "prism/v1/placement.pb.h"

namespace prism::query {

workload::Job ReadJob(const prism::v1::Job& message, const FieldPath& path,
                      Checker& checker);

// Nodes and paths of which nothing is said are left out; latencies and sizes
// that the message leaves open are filled in.
hardware::Cluster ReadCluster(const prism::v1::Cluster& message,
                              const FieldPath& path, Checker& checker);

// For a job that needs `gpus` GPUs. Without nodes: the first that are neither
// drained nor failed. Nodes 0, 1, 2, ... are left out. Drained nodes may be
// named, failed ones not.
estimate::Placement ReadPlacement(const prism::v1::Placement& message,
                                  const hardware::Cluster& cluster,
                                  int64_t gpus, const FieldPath& path,
                                  Checker& checker);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_READ_JOB_H_
