#include "server/cluster_snapshot.h"

namespace prism::server {
namespace {

google::protobuf::Timestamp TimestampOf(absl::Time time) {
  const int64_t nanos = absl::ToUnixNanos(time);
  google::protobuf::Timestamp timestamp;
  timestamp.set_seconds(nanos / 1000000000);
  timestamp.set_nanos(static_cast<int32_t>(nanos % 1000000000));
  return timestamp;
}

}  // namespace

const prism::v1::Cluster& ClusterSnapshot::cluster() const {
  std::call_once(once_, [this] {
    cluster_ = *record_.base;
    record_.node_states.ForEach([this](const prism::v1::NodeState& state) {
      *cluster_.add_node_states() = state;
    });
  });
  return cluster_;
}

prism::v1::StoredCluster ClusterSnapshot::Stored() const {
  prism::v1::StoredCluster stored;
  *stored.mutable_cluster() = cluster();
  stored.set_etag(record_.etag);
  stored.set_revision(record_.revision);
  *stored.mutable_update_time() = TimestampOf(record_.update_time);
  return stored;
}

prism::v1::ClusterSummary ClusterSnapshot::Summary() const {
  const auto& base = *record_.base;
  prism::v1::ClusterSummary summary;
  summary.set_name(record_.name);
  summary.set_accelerator(base.accelerator());
  summary.set_nodes(base.nodes());
  summary.set_gpus_per_node(base.gpus_per_node());
  summary.set_unhealthy_nodes(
      static_cast<uint32_t>(record_.node_states.unhealthy()));
  summary.set_etag(record_.etag);
  summary.set_revision(record_.revision);
  *summary.mutable_update_time() = TimestampOf(record_.update_time);
  return summary;
}

}  // namespace prism::server
