// ClusterFile: clusters on disk, in one SQLite file.
//
// A transaction that was committed survives the end of the process and of the
// machine (write-ahead log, fsync at each commit); one that was not leaves no
// trace. A node's state is a row of its own: changing it writes that row and
// the cluster's revision, not the cluster.
//
// One process at a time has the file. Not thread-safe.
#ifndef PRISM_SERVER_CLUSTER_FILE_H_
#define PRISM_SERVER_CLUSTER_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/cluster_snapshot.h"
#include "server/sqlite.h"

namespace prism::server {

// What is to be written of one cluster.
struct ClusterWrite {
  const ClusterRecord* record = nullptr;
  // The whole cluster, or the nodes in `nodes` alone.
  bool whole = false;
  std::set<uint32_t> nodes;
};

class ClusterFile {
 public:
  static constexpr char kName[] = "clusters.sqlite";

  // Opens the file in `folder`; creates both where they are missing.
  //
  // Errors, with a message that names the file: UNAVAILABLE if another process
  // has it, DATA_LOSS if it is damaged, FAILED_PRECONDITION if it is of
  // something else or of a newer prismd, INTERNAL of the system.
  static absl::StatusOr<std::unique_ptr<ClusterFile>> Open(
      const std::string& folder);

  // All clusters, deleted ones too; without etags and serials.
  absl::StatusOr<std::vector<ClusterRecord>> Load();

  // One transaction: after OK everything is on disk, after an error nothing.
  absl::Status Write(const std::vector<ClusterWrite>& writes);

  // Random, made with the file.
  const std::string& id() const { return id_; }

 private:
  using StatementPtr = std::unique_ptr<SqliteStatement>;

  ClusterFile(std::string path, std::unique_ptr<SqliteDatabase> database)
      : path_(std::move(path)), database_(std::move(database)) {}

  absl::Status Prepare();
  absl::Status Check();
  absl::Status PrepareStatements();
  absl::Status LoadStates(std::vector<ClusterRecord>& records);
  absl::Status WriteAll(const std::vector<ClusterWrite>& writes);
  absl::Status WriteOne(const ClusterWrite& write);
  absl::Status WriteWhole(const ClusterRecord& record);
  absl::Status WriteState(const std::string& name,
                          const prism::v1::NodeState& state);
  // `status` with the name of the file in front.
  absl::Status Named(const absl::Status& status) const;

  const std::string path_;
  const std::unique_ptr<SqliteDatabase> database_;
  std::string id_;
  // After the database, as they must go first.
  StatementPtr put_cluster_;
  StatementPtr put_body_;
  StatementPtr delete_body_;
  StatementPtr delete_states_;
  StatementPtr put_state_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_CLUSTER_FILE_H_
