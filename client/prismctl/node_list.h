// Lists of nodes as people write them: "0-3,7 node12".
#ifndef PRISM_CLIENT_PRISMCTL_NODE_LIST_H_
#define PRISM_CLIENT_PRISMCTL_NODE_LIST_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "prism/v1/cluster.pb.h"

namespace prism::prismctl {

// Nodes of `text`: numbers, ranges of them and names of nodes of `cluster`,
// with commas or white space between them. A name that looks like a number is
// a name.
//
// Errors: INVALID_ARGUMENT with a message that reads on after the option's
// name.
absl::StatusOr<std::vector<uint32_t>> ParseNodes(
    const std::string& text, const prism::v1::Cluster& cluster);

// The same where `value` may also name a file that holds the list; "-" is
// `in`.
absl::StatusOr<std::vector<uint32_t>> ReadNodes(
    const std::string& value, std::istream& in,
    const prism::v1::Cluster& cluster);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_NODE_LIST_H_
