// What-ifs: a question about a job asked again with another cluster or on
// other nodes.
#ifndef PRISM_CORE_QUERY_WHAT_IF_H_
#define PRISM_CORE_QUERY_WHAT_IF_H_

#include <cstdint>
#include <map>
#include <vector>

#include "core/estimate/placement.h"
#include "core/hardware/cluster.h"
#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "prism/v1/cluster.pb.h"
#include "prism/v1/placement_service.pb.h"

namespace prism::query {

// No question asks more of them.
inline constexpr int kMostWhatIfs = 16;

// What runs in the place of each node that is replaced.
using Replacements = std::map<int64_t, int64_t>;

// Changes the nodes of `cluster`, which is valid, as `what_if` says, and
// returns what replaces which. Where a check fails `cluster` stays as it is.
Replacements ReadWhatIf(const prism::v1::WhatIf& what_if, const FieldPath& path,
                        Checker& checker, prism::v1::Cluster& cluster);

// `placement` of `nodes` nodes of `cluster`, as changed, with others in the
// place of some. Fails where a node would be used twice or has failed.
estimate::Placement Replaced(const estimate::Placement& placement,
                             int64_t nodes, const Replacements& replacements,
                             const hardware::Cluster& cluster,
                             const FieldPath& path, Checker& checker);

// Nodes that are free when `replacements` take the place of some of `free`,
// each once. Empty: all of the cluster were free; those replaced are then added
// to `exclude`.
std::vector<int64_t> ReplacedAmongFree(const std::vector<int64_t>& free,
                                       const Replacements& replacements,
                                       std::vector<int64_t>& exclude);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_WHAT_IF_H_
