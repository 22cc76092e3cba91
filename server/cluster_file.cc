#include "server/cluster_file.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <filesystem>
#include <map>
#include <random>
#include <system_error>
#include <utility>

namespace prism::server {
namespace {

// "PRSM", what tells the file from others.
constexpr int64_t kApplicationId = 0x5052534d;
// Changes with what follows; older files are then brought up to it.
constexpr int64_t kSchemaVersion = 1;

constexpr char kSchema[] = R"(
CREATE TABLE store (id TEXT NOT NULL);
CREATE TABLE clusters (
  name TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  update_nanoseconds INTEGER NOT NULL
) WITHOUT ROWID;
-- prism.v1.Cluster without node_states; no row: deleted.
CREATE TABLE bodies (
  cluster TEXT PRIMARY KEY REFERENCES clusters (name),
  body BLOB NOT NULL
);
-- prism.v1.NodeState.
CREATE TABLE node_states (
  cluster TEXT NOT NULL REFERENCES clusters (name),
  node INTEGER NOT NULL,
  state BLOB NOT NULL,
  PRIMARY KEY (cluster, node)
) WITHOUT ROWID;
)";

std::string RandomId() {
  std::random_device random;
  return absl::StrFormat("%08x", random());
}

absl::Status Damaged(const std::string& what) {
  return absl::DataLossError(absl::StrCat("is damaged: ", what));
}

absl::Status CreateFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cannot create the data folder ",
                                          folder, ": ", error.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ClusterFile>> ClusterFile::Open(
    const std::string& folder) {
  if (auto status = CreateFolder(folder); !status.ok()) return status;
  const std::string path = absl::StrCat(folder, "/", kName);
  auto database = SqliteDatabase::Open(path);
  if (!database.ok()) {
    return absl::Status(database.status().code(),
                        absl::StrCat(path, ": ", database.status().message()));
  }
  std::unique_ptr<ClusterFile> file(
      new ClusterFile(path, *std::move(database)));
  if (auto status = file->Prepare(); !status.ok()) return file->Named(status);
  return file;
}

absl::Status ClusterFile::Prepare() {
  // Before anything is read: the lock is then kept.
  if (auto s = database_->Execute("PRAGMA locking_mode = EXCLUSIVE"); !s.ok()) {
    return s;
  }
  if (auto status = Check(); !status.ok()) return status;
  const auto mode = database_->Text("PRAGMA journal_mode = WAL");
  if (!mode.ok()) return mode.status();
  if (*mode != "wal") {
    return absl::InternalError("cannot keep a write-ahead log here");
  }
  if (auto s = database_->Execute("PRAGMA synchronous = FULL"); !s.ok()) {
    return s;
  }
  const auto health = database_->Text("PRAGMA quick_check(1)");
  if (!health.ok()) return health.status();
  if (*health != "ok") return Damaged(*health);
  const auto id = database_->Text("SELECT id FROM store");
  if (!id.ok()) return Damaged(std::string(id.status().message()));
  id_ = *id;
  return PrepareStatements();
}

absl::Status ClusterFile::Check() {
  const auto tables = database_->Integer("SELECT count(*) FROM sqlite_master");
  if (!tables.ok()) return tables.status();
  if (*tables == 0) {
    return database_->Execute(
        absl::StrCat("BEGIN IMMEDIATE;", kSchema, "INSERT INTO store VALUES ('",
                     RandomId(), "'); PRAGMA application_id = ", kApplicationId,
                     "; PRAGMA user_version = ", kSchemaVersion, "; COMMIT"));
  }
  const auto application = database_->Integer("PRAGMA application_id");
  if (!application.ok()) return application.status();
  if (*application != kApplicationId) {
    return absl::FailedPreconditionError("is a database of something else");
  }
  const auto version = database_->Integer("PRAGMA user_version");
  if (!version.ok()) return version.status();
  if (*version > kSchemaVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "has schema version ", *version,
        ", of a newer prismd; this one knows up to ", kSchemaVersion));
  }
  return absl::OkStatus();
}

absl::Status ClusterFile::PrepareStatements() {
  const std::pair<StatementPtr*, const char*> statements[] = {
      {&put_cluster_, "INSERT OR REPLACE INTO clusters VALUES (?1, ?2, ?3)"},
      {&put_body_, "INSERT OR REPLACE INTO bodies VALUES (?1, ?2)"},
      {&delete_body_, "DELETE FROM bodies WHERE cluster = ?1"},
      {&delete_states_, "DELETE FROM node_states WHERE cluster = ?1"},
      {&put_state_, "INSERT OR REPLACE INTO node_states VALUES (?1, ?2, ?3)"}};
  for (const auto& [statement, sql] : statements) {
    auto prepared = database_->Prepare(sql);
    if (!prepared.ok())
      return Damaged(std::string(prepared.status().message()));
    *statement = *std::move(prepared);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ClusterRecord>> ClusterFile::Load() {
  auto rows = database_->Prepare(
      "SELECT name, revision, update_nanoseconds, bodies.cluster IS NOT NULL, "
      "body FROM clusters LEFT JOIN bodies ON cluster = name ORDER BY name");
  if (!rows.ok()) return Named(rows.status());
  std::vector<ClusterRecord> records;
  absl::StatusOr<bool> row = (*rows)->Step();
  for (; row.ok() && *row; row = (*rows)->Step()) {
    ClusterRecord& record = records.emplace_back();
    record.name = (*rows)->Bytes(0);
    record.revision = static_cast<uint64_t>((*rows)->Integer(1));
    record.update_time = absl::FromUnixNanos((*rows)->Integer(2));
    if ((*rows)->Integer(3) == 0) continue;
    auto base = std::make_shared<prism::v1::Cluster>();
    if (!base->ParseFromString(std::string((*rows)->Bytes(4)))) {
      return Named(Damaged(absl::StrCat("cluster ", record.name)));
    }
    record.base = std::move(base);
  }
  if (!row.ok()) return Named(row.status());
  if (auto s = LoadStates(records); !s.ok()) return Named(s);
  return records;
}

absl::Status ClusterFile::LoadStates(std::vector<ClusterRecord>& records) {
  std::map<std::string, ClusterRecord*, std::less<>> by_name;
  for (ClusterRecord& record : records) by_name[record.name] = &record;
  auto rows = database_->Prepare("SELECT cluster, state FROM node_states");
  if (!rows.ok()) return rows.status();
  absl::StatusOr<bool> row = (*rows)->Step();
  for (; row.ok() && *row; row = (*rows)->Step()) {
    const auto record = by_name.find((*rows)->Bytes(0));
    prism::v1::NodeState state;
    if (record == by_name.end() || record->second->base == nullptr ||
        !state.ParseFromString(std::string((*rows)->Bytes(1))) ||
        state.node() >= record->second->base->nodes()) {
      return Damaged(
          absl::StrCat("a node of cluster ", std::string((*rows)->Bytes(0))));
    }
    record->second->node_states.Set(std::move(state));
  }
  return row.status();
}

absl::Status ClusterFile::Write(const std::vector<ClusterWrite>& writes) {
  absl::Status status = database_->Execute("BEGIN IMMEDIATE");
  if (status.ok()) status = WriteAll(writes);
  if (status.ok()) status = database_->Execute("COMMIT");
  if (status.ok()) return status;
  // Some errors have rolled back already.
  database_->Execute("ROLLBACK").IgnoreError();
  return Named(status);
}

absl::Status ClusterFile::WriteAll(const std::vector<ClusterWrite>& writes) {
  for (const ClusterWrite& write : writes) {
    if (auto status = WriteOne(write); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ClusterFile::WriteOne(const ClusterWrite& write) {
  const ClusterRecord& record = *write.record;
  put_cluster_->BindText(1, record.name)
      .Bind(2, static_cast<int64_t>(record.revision))
      .Bind(3, absl::ToUnixNanos(record.update_time));
  if (auto status = put_cluster_->Run(); !status.ok()) return status;
  if (write.whole) return WriteWhole(record);
  for (uint32_t node : write.nodes) {
    if (auto status = WriteState(record.name, *record.node_states.Find(node));
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status ClusterFile::WriteWhole(const ClusterRecord& record) {
  delete_states_->BindText(1, record.name);
  if (auto status = delete_states_->Run(); !status.ok()) return status;
  if (record.base == nullptr) {
    delete_body_->BindText(1, record.name);
    return delete_body_->Run();
  }
  const std::string body = record.base->SerializeAsString();
  put_body_->BindText(1, record.name).BindBytes(2, body);
  absl::Status status = put_body_->Run();
  record.node_states.ForEach([&](const prism::v1::NodeState& state) {
    if (status.ok()) status = WriteState(record.name, state);
  });
  return status;
}

absl::Status ClusterFile::WriteState(const std::string& name,
                                     const prism::v1::NodeState& state) {
  const std::string bytes = state.SerializeAsString();
  put_state_->BindText(1, name).Bind(2, state.node()).BindBytes(3, bytes);
  return put_state_->Run();
}

absl::Status ClusterFile::Named(const absl::Status& status) const {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(path_, ": ", status.message()));
}

}  // namespace prism::server
