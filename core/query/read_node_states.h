// What a message says of single nodes, paths and their failures, as checked
// values. What is returned is valid if no check failed.
#ifndef PRISM_CORE_QUERY_READ_NODE_STATES_H_
#define PRISM_CORE_QUERY_READ_NODE_STATES_H_

#include <cstdint>
#include <vector>

#include "core/hardware/cluster.h"
#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "prism/v1/cluster.pb.h"

namespace prism::query {

// States of a cluster of `nodes` nodes, by node. Nodes of which nothing is
// said are left out. `list` is the path of the list.
std::vector<hardware::NodeState> ReadNodeStates(
    const google::protobuf::RepeatedPtrField<prism::v1::NodeState>& messages,
    int64_t nodes, const FieldPath& list, Checker& checker);

// The same of paths, the smaller index first; those with a factor of 1 are left
// out.
std::vector<hardware::PathState> ReadPathStates(
    const google::protobuf::RepeatedPtrField<prism::v1::PathState>& messages,
    int64_t nodes, const FieldPath& list, Checker& checker);

hardware::Reliability ReadReliability(const prism::v1::Reliability& message,
                                      const FieldPath& path, Checker& checker);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_READ_NODE_STATES_H_
