// ClusterStore: the clusters that callers put into the server.
//
// Changes are queued for one writer thread, which brings all that wait to disk
// in one transaction, and are acknowledged when they are there. Readers look at
// an immutable catalogue that is replaced as a whole after each transaction,
// and never wait for a write.
#ifndef PRISM_SERVER_CLUSTER_STORE_H_
#define PRISM_SERVER_CLUSTER_STORE_H_

#include <absl/status/statusor.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "server/clock.h"
#include "server/cluster_file.h"
#include "server/cluster_snapshot.h"
#include "server/metrics.h"

namespace prism::server {

// What a caller wants of one cluster.
struct ClusterChange {
  struct Put {
    prism::v1::Cluster cluster;  // valid; its name is not looked at
  };
  struct Delete {};
  struct UpdateNodes {
    google::protobuf::RepeatedPtrField<prism::v1::NodeState> nodes;
  };

  std::string name;
  // Empty: whatever is stored; "-": nothing may be; else what must be.
  std::string etag;
  std::variant<Put, Delete, UpdateNodes> what;
};

// Thread-safe.
class ClusterStore {
 public:
  // The cluster after the change. Called once, on the writer's thread: it must
  // not block.
  using Done = std::function<void(absl::StatusOr<ClusterSnapshotPtr>)>;

  // Opens the file in `folder` (see ClusterFile::Open for errors) and reads all
  // clusters. `metrics` outlives the store.
  static absl::StatusOr<std::unique_ptr<ClusterStore>> Open(
      const std::string& folder, Clock clock, Metrics& metrics);
  // Brings what is queued to disk first.
  ~ClusterStore();

  ClusterStore(const ClusterStore&) = delete;
  ClusterStore& operator=(const ClusterStore&) = delete;

  // Null if there is none of this name.
  ClusterSnapshotPtr Find(const std::string& name) const;

  // The first `count` clusters with names after `after`, by name.
  std::vector<ClusterSnapshotPtr> List(const std::string& after,
                                       size_t count) const;

  // What Apply would give now; changes nothing.
  absl::StatusOr<ClusterSnapshotPtr> Preview(const ClusterChange& change) const;

  // Makes `change` and calls `done` when it is on disk, or with
  //   NOT_FOUND           there is no such cluster (not for Put)
  //   ABORTED             another etag is stored
  //   INVALID_ARGUMENT    a node is wrong; nothing is changed
  //   RESOURCE_EXHAUSTED  too many changes wait
  //   INTERNAL            it cannot be written
  void Apply(ClusterChange change, Done done);

 private:
  using Catalogue = std::map<std::string, ClusterSnapshotPtr>;
  using CataloguePtr = std::shared_ptr<const Catalogue>;

  struct Queued {
    ClusterChange change;
    Done done;
  };
  struct Transaction;

  ClusterStore(std::unique_ptr<ClusterFile> file, Clock clock,
               Metrics& metrics);

  absl::Status Load();
  CataloguePtr Current() const;
  void Publish(CataloguePtr catalogue);
  // `current` (null: never was) after `change`.
  absl::StatusOr<ClusterRecord> Changed(const ClusterChange& change,
                                        const ClusterRecord* current) const;
  std::string EtagOf(uint64_t revision) const;

  void Work();
  void WriteBatch(std::vector<Queued> batch);
  absl::Status Write(const Transaction& transaction);

  const std::unique_ptr<ClusterFile> file_;  // the writer's
  const Clock clock_;
  Metrics& metrics_;
  uint64_t next_serial_ = 1;  // the writer's

  mutable std::mutex catalogue_mutex_;  // held to copy or set the pointer only
  CataloguePtr catalogue_;

  std::mutex queue_mutex_;
  std::condition_variable wake_;
  std::deque<Queued> queue_;
  bool stopping_ = false;

  std::thread writer_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_CLUSTER_STORE_H_
