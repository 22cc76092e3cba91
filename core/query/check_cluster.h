// What is right to be stored as a cluster.
#ifndef PRISM_CORE_QUERY_CHECK_CLUSTER_H_
#define PRISM_CORE_QUERY_CHECK_CLUSTER_H_

#include <string_view>

#include "core/base/violations.h"
#include "prism/v1/cluster.pb.h"

namespace prism::query {

// 1 to 63 of a-z, 0-9 and -, with a letter first.
bool IsClusterName(std::string_view name);

// What is wrong with `cluster`, its name included; paths begin with "cluster".
base::Violations CheckCluster(const prism::v1::Cluster& cluster);

// What is wrong with `updates` as states of nodes of `cluster`, a valid one;
// paths begin with "nodes".
base::Violations CheckNodeStates(
    const google::protobuf::RepeatedPtrField<prism::v1::NodeState>& updates,
    const prism::v1::Cluster& cluster);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_CHECK_CLUSTER_H_
