#include "core/query/check_cluster.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>

#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "core/query/node.h"
#include "core/query/read_job.h"
#include "core/query/read_node_states.h"

namespace prism::query {
namespace {

constexpr size_t kLongestName = 63;

bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }

bool IsNameCharacter(char c) {
  return IsLetter(c) || (c >= '0' && c <= '9') || c == '-';
}

}  // namespace

bool IsClusterName(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName &&
         IsLetter(name.front()) &&
         std::all_of(name.begin(), name.end(), IsNameCharacter);
}

base::Violations CheckCluster(const prism::v1::Cluster& cluster) {
  base::Violations violations;
  if (!IsClusterName(cluster.name())) {
    violations.Add("cluster.name",
                   absl::StrCat("is ", Quote(cluster.name()),
                                "; must be 1 to 63 of a-z, 0-9 and -, with a "
                                "letter first"));
  }
  Checker checker(violations);
  ReadCluster(cluster, FieldPath("cluster"), checker);
  return violations;
}

base::Violations CheckNodeStates(
    const google::protobuf::RepeatedPtrField<prism::v1::NodeState>& updates,
    const prism::v1::Cluster& cluster) {
  base::Violations violations;
  Checker checker(violations);
  ReadNodeStates(updates, cluster.nodes(), FieldPath("nodes"), checker);
  return violations;
}

}  // namespace prism::query
