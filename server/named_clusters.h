// NamedClusters: the stored clusters that one request names.
#ifndef PRISM_SERVER_NAMED_CLUSTERS_H_
#define PRISM_SERVER_NAMED_CLUSTERS_H_

#include <absl/status/status.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/violations.h"
#include "server/cluster_store.h"

namespace prism::server {

// Remembers what it was asked for, so that whoever keeps what was read from the
// request can tell whether it still holds. Not thread-safe.
class NamedClusters {
 public:
  // `store` may be null: no cluster has a name.
  explicit NamedClusters(const ClusterStore* store) : store_(store) {}

  // Puts the cluster that `message` names in its field `cluster_name` into its
  // field `cluster`; does nothing where it names none. A message that has both
  // is a violation under `path`.
  //
  // Errors: NOT_FOUND, FAILED_PRECONDITION without a store.
  //
  // Requires: Message has both fields.
  template <typename Message>
  absl::Status Resolve(Message& message, const std::string& path,
                       base::Violations& violations) {
    if (message.cluster_name().empty()) return absl::OkStatus();
    if (message.has_cluster()) {
      AddBoth(path, violations);
      return absl::OkStatus();
    }
    const auto snapshot = Find(message.cluster_name());
    if (!snapshot.ok()) return snapshot.status();
    *message.mutable_cluster() = (*snapshot)->cluster();
    message.clear_cluster_name();
    return absl::OkStatus();
  }

  // Serials of the snapshots that were used, by name.
  using Uses = std::vector<std::pair<std::string, uint64_t>>;
  const Uses& uses() const { return uses_; }

  // Whether `store` would give the same snapshots again.
  static bool AreCurrent(const Uses& uses, const ClusterStore* store);

 private:
  absl::StatusOr<ClusterSnapshotPtr> Find(const std::string& name);
  static void AddBoth(const std::string& path, base::Violations& violations);

  const ClusterStore* const store_;
  Uses uses_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_NAMED_CLUSTERS_H_
