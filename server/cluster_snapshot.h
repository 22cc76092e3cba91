// ClusterSnapshot: a stored cluster as it was at one moment.
#ifndef PRISM_SERVER_CLUSTER_SNAPSHOT_H_
#define PRISM_SERVER_CLUSTER_SNAPSHOT_H_

#include <absl/time/time.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "prism/v1/cluster.pb.h"
#include "prism/v1/cluster_service.pb.h"
#include "server/node_states.h"

namespace prism::server {

// What a snapshot is made of.
struct ClusterRecord {
  std::string name;
  // All but node_states; null: deleted.
  std::shared_ptr<const prism::v1::Cluster> base;
  NodeStates node_states;
  uint64_t revision = 0;
  absl::Time update_time;
  std::string etag;
  // Tells snapshots of one process apart, over all clusters.
  uint64_t serial = 0;
};

// Immutable; thread-safe.
class ClusterSnapshot {
 public:
  explicit ClusterSnapshot(ClusterRecord record) : record_(std::move(record)) {}

  const ClusterRecord& record() const { return record_; }
  bool exists() const { return record_.base != nullptr; }

  // The whole cluster, node states included. Put together by the first who
  // asks. Requires: exists(). Lives as long as the snapshot.
  const prism::v1::Cluster& cluster() const;

  // Requires for both: exists().
  prism::v1::StoredCluster Stored() const;
  prism::v1::ClusterSummary Summary() const;

 private:
  const ClusterRecord record_;
  mutable std::once_flag once_;
  mutable prism::v1::Cluster cluster_;
};

using ClusterSnapshotPtr = std::shared_ptr<const ClusterSnapshot>;

}  // namespace prism::server

#endif  // PRISM_SERVER_CLUSTER_SNAPSHOT_H_
