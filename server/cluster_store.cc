#include "server/cluster_store.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/query/check_cluster.h"
#include "core/query/node_updates.h"
#include "server/rpc_status.h"

namespace prism::server {
namespace {

using google::protobuf::RepeatedPtrField;
using prism::v1::Cluster;
using prism::v1::NodeState;

// Changes in one transaction: what waits longer than one takes is not helped
// by more of them.
constexpr size_t kMostBatch = 1024;
constexpr size_t kMostQueued = 16384;
constexpr absl::Duration kRetryAfter = absl::Milliseconds(100);

constexpr char kNoCluster[] = "-";

bool EtagFits(const std::string& wanted, const ClusterRecord* current) {
  if (wanted.empty()) return true;
  const bool exists = current != nullptr && current->base != nullptr;
  if (wanted == kNoCluster) return !exists;
  return exists && current->etag == wanted;
}

void Put(const Cluster& cluster, ClusterRecord& record) {
  auto base = std::make_shared<Cluster>(cluster);
  record.node_states = NodeStates();
  for (NodeState& state : *base->mutable_node_states()) {
    record.node_states.Set(std::move(state));
  }
  base->clear_node_states();
  record.base = std::move(base);
}

absl::Status SetNodes(const RepeatedPtrField<NodeState>& updates,
                      ClusterRecord& record) {
  const base::Violations violations =
      query::CheckNodeStates(updates, *record.base);
  if (!violations.empty()) return BadRequestError(violations);
  for (const NodeState& update : updates) {
    NodeState state;
    state.set_node(update.node());
    if (const auto* stored = record.node_states.Find(update.node())) {
      state = *stored;
    }
    query::MergeNodeState(update, state);
    record.node_states.Set(std::move(state));
  }
  return absl::OkStatus();
}

size_t NodesOf(const ClusterChange& change) {
  const auto* update = std::get_if<ClusterChange::UpdateNodes>(&change.what);
  return update == nullptr ? 0 : static_cast<size_t>(update->nodes.size());
}

}  // namespace

// The clusters that a batch changes, as they are after it.
struct ClusterStore::Transaction {
  struct Pending {
    ClusterSnapshotPtr snapshot;
    bool whole = false;
    std::set<uint32_t> nodes;
  };

  const ClusterRecord* Find(const std::string& name) const {
    if (const auto found = changed.find(name); found != changed.end()) {
      return &found->second.snapshot->record();
    }
    const auto found = before->find(name);
    return found == before->end() ? nullptr : &found->second->record();
  }

  void Add(const ClusterChange& change, ClusterSnapshotPtr snapshot) {
    Pending& pending = changed[change.name];
    pending.snapshot = std::move(snapshot);
    if (const auto* update =
            std::get_if<ClusterChange::UpdateNodes>(&change.what)) {
      for (const NodeState& node : update->nodes) {
        pending.nodes.insert(node.node());
      }
    } else {
      pending.whole = true;
    }
  }

  CataloguePtr before;
  std::map<std::string, Pending> changed;
};

absl::StatusOr<std::unique_ptr<ClusterStore>> ClusterStore::Open(
    const std::string& folder, Clock clock, Metrics& metrics) {
  auto file = ClusterFile::Open(folder);
  if (!file.ok()) return file.status();
  std::unique_ptr<ClusterStore> store(
      new ClusterStore(*std::move(file), std::move(clock), metrics));
  if (auto status = store->Load(); !status.ok()) return status;
  store->writer_ = std::thread([store = store.get()] { store->Work(); });
  return store;
}

ClusterStore::ClusterStore(std::unique_ptr<ClusterFile> file, Clock clock,
                           Metrics& metrics)
    : file_(std::move(file)), clock_(std::move(clock)), metrics_(metrics) {}

ClusterStore::~ClusterStore() {
  {
    std::lock_guard lock(queue_mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (writer_.joinable()) writer_.join();
}

absl::Status ClusterStore::Load() {
  auto records = file_->Load();
  if (!records.ok()) return records.status();
  auto catalogue = std::make_shared<Catalogue>();
  for (ClusterRecord& record : *records) {
    record.etag = EtagOf(record.revision);
    record.serial = next_serial_++;
    const std::string name = record.name;
    (*catalogue)[name] =
        std::make_shared<const ClusterSnapshot>(std::move(record));
  }
  Publish(std::move(catalogue));
  return absl::OkStatus();
}

ClusterStore::CataloguePtr ClusterStore::Current() const {
  std::lock_guard lock(catalogue_mutex_);
  return catalogue_;
}

void ClusterStore::Publish(CataloguePtr catalogue) {
  int64_t existing = 0;
  absl::Time changed = absl::UnixEpoch();
  for (const auto& [name, snapshot] : *catalogue) {
    existing += snapshot->exists();
    changed = std::max(changed, snapshot->record().update_time);
  }
  metrics_.clusters.Set(static_cast<double>(existing));
  metrics_.cluster_change_time.Set(
      absl::ToDoubleSeconds(changed - absl::UnixEpoch()));
  std::lock_guard lock(catalogue_mutex_);
  catalogue_.swap(catalogue);
}

std::string ClusterStore::EtagOf(uint64_t revision) const {
  return absl::StrCat(file_->id(), "-", revision);
}

ClusterSnapshotPtr ClusterStore::Find(const std::string& name) const {
  const CataloguePtr catalogue = Current();
  const auto found = catalogue->find(name);
  if (found == catalogue->end() || !found->second->exists()) return nullptr;
  return found->second;
}

std::vector<ClusterSnapshotPtr> ClusterStore::List(const std::string& after,
                                                   size_t count) const {
  const CataloguePtr catalogue = Current();
  std::vector<ClusterSnapshotPtr> list;
  for (auto entry = catalogue->upper_bound(after);
       entry != catalogue->end() && list.size() < count; ++entry) {
    if (entry->second->exists()) list.push_back(entry->second);
  }
  return list;
}

absl::StatusOr<ClusterSnapshotPtr> ClusterStore::Preview(
    const ClusterChange& change) const {
  const Transaction now{Current(), {}};
  auto record = Changed(change, now.Find(change.name));
  if (!record.ok()) return record.status();
  return std::make_shared<const ClusterSnapshot>(*std::move(record));
}

absl::StatusOr<ClusterRecord> ClusterStore::Changed(
    const ClusterChange& change, const ClusterRecord* current) const {
  const auto* put = std::get_if<ClusterChange::Put>(&change.what);
  if (put == nullptr && (current == nullptr || current->base == nullptr)) {
    return ClusterNotFoundError(change.name);
  }
  if (!EtagFits(change.etag, current)) {
    return EtagError(change.name, change.etag);
  }
  ClusterRecord record;
  if (current != nullptr) record = *current;
  record.name = change.name;
  record.revision += 1;
  record.update_time = clock_();
  record.etag = EtagOf(record.revision);
  if (put != nullptr) {
    Put(put->cluster, record);
  } else if (std::holds_alternative<ClusterChange::Delete>(change.what)) {
    record.base = nullptr;
    record.node_states = NodeStates();
  } else {
    const auto& update = std::get<ClusterChange::UpdateNodes>(change.what);
    if (auto status = SetNodes(update.nodes, record); !status.ok()) {
      return status;
    }
  }
  return record;
}

void ClusterStore::Apply(ClusterChange change, Done done) {
  {
    std::lock_guard lock(queue_mutex_);
    if (queue_.size() < kMostQueued) {
      queue_.push_back({std::move(change), std::move(done)});
      wake_.notify_one();
      return;
    }
  }
  done(QueueFullError(kRetryAfter));
}

void ClusterStore::Work() {
  std::unique_lock lock(queue_mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(
                                          std::min(queue_.size(), kMostBatch));
    std::vector<Queued> batch(std::make_move_iterator(queue_.begin()),
                              std::make_move_iterator(end));
    queue_.erase(queue_.begin(), end);
    lock.unlock();
    WriteBatch(std::move(batch));
    lock.lock();
  }
}

void ClusterStore::WriteBatch(std::vector<Queued> batch) {
  Transaction transaction{Current(), {}};
  std::vector<absl::StatusOr<ClusterSnapshotPtr>> results;
  size_t nodes = 0;
  for (const auto& [change, done] : batch) {
    auto record = Changed(change, transaction.Find(change.name));
    if (!record.ok()) {
      results.push_back(record.status());
      continue;
    }
    record->serial = next_serial_++;
    auto snapshot = std::make_shared<const ClusterSnapshot>(*std::move(record));
    transaction.Add(change, snapshot);
    results.push_back(std::move(snapshot));
    nodes += NodesOf(change);
  }
  const absl::Status written = Write(transaction);
  if (written.ok()) metrics_.node_updates.Increment(static_cast<double>(nodes));
  for (size_t i = 0; i < batch.size(); ++i) {
    const bool lost = results[i].ok() && !written.ok();
    batch[i].done(lost ? written : std::move(results[i]));
  }
}

absl::Status ClusterStore::Write(const Transaction& transaction) {
  if (transaction.changed.empty()) return absl::OkStatus();
  auto after = std::make_shared<Catalogue>(*transaction.before);
  std::vector<ClusterWrite> writes;
  for (const auto& [name, pending] : transaction.changed) {
    writes.push_back(
        {&pending.snapshot->record(), pending.whole, pending.nodes});
    (*after)[name] = pending.snapshot;
  }
  const absl::Time start = clock_();
  if (auto status = file_->Write(writes); !status.ok()) return status;
  metrics_.cluster_write_seconds.Observe(
      absl::ToDoubleSeconds(clock_() - start));
  Publish(std::move(after));
  return absl::OkStatus();
}

}  // namespace prism::server
