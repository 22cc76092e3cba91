// What-ifs: a question about a job asked again with another cluster or on
// other nodes.
#ifndef PRISM_CORE_QUERY_WHAT_IF_H_
#define PRISM_CORE_QUERY_WHAT_IF_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/violations.h"
#include "core/estimate/placement.h"
#include "core/hardware/cluster.h"
#include "core/query/field_path.h"
#include "prism/v1/cluster.pb.h"
#include "prism/v1/placement_service.pb.h"

namespace prism::query {

// No question asks more of them.
inline constexpr int kMostWhatIfs = 16;

// Changes node states in `cluster`: a field that is set takes the place of
// what is there; a node that has no state yet gets one.
//
// Returns, for each state of the cluster, the index of the change that it
// holds, or -1.
std::vector<int> ChangeNodes(
    const google::protobuf::RepeatedPtrField<prism::v1::NodeState>& changes,
    prism::v1::Cluster& cluster);

// Adds `found`, which speak of a request whose cluster ChangeNodes changed, to
// `violations`: those of a changed node under `path`.nodes, the others under
// `path`.
void AddViolations(const base::Violations& found,
                   const std::vector<int>& change_of_state,
                   const FieldPath& path, base::Violations& violations);

// What runs in the place of each node that is replaced. Adds a violation for
// each node that is not in 0 ... cluster.nodes - 1, or named twice.
std::map<int64_t, int64_t> ReadReplacements(const prism::v1::WhatIf& what_if,
                                            const hardware::Cluster& cluster,
                                            const FieldPath& path,
                                            base::Violations& violations);

// `placement` of `nodes` nodes with others in the place of some. Adds a
// violation where a node would be used twice.
estimate::Placement Replaced(const estimate::Placement& placement,
                             int64_t nodes,
                             const std::map<int64_t, int64_t>& replacements,
                             const FieldPath& path,
                             base::Violations& violations);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_WHAT_IF_H_
