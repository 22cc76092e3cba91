// Fabric levels of a message as checked values.
#ifndef PRISM_CORE_QUERY_READ_FABRIC_H_
#define PRISM_CORE_QUERY_READ_FABRIC_H_

#include <vector>

#include "core/hardware/cluster.h"
#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "prism/v1/cluster.pb.h"

namespace prism::query {

// The fabric of a cluster of `nodes` nodes of `gpus_per_node` GPUs, valid if
// no check failed. Latencies and sizes that the message leaves open are filled
// in; listed units are numbered in the order in which they appear.
std::vector<hardware::FabricLevel> ReadFabric(const prism::v1::Cluster& message,
                                              int64_t nodes,
                                              int64_t gpus_per_node,
                                              const FieldPath& path,
                                              Checker& checker);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_READ_FABRIC_H_
