#include "server/named_clusters.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "server/rpc_status.h"

namespace prism::server {

bool NamedClusters::AreCurrent(const Uses& uses, const ClusterStore* store) {
  return std::all_of(uses.begin(), uses.end(), [store](const auto& use) {
    const auto snapshot = store->Find(use.first);
    return snapshot != nullptr && snapshot->record().serial == use.second;
  });
}

absl::StatusOr<ClusterSnapshotPtr> NamedClusters::Find(
    const std::string& name) {
  if (store_ == nullptr) return NoDataFolderError();
  auto snapshot = store_->Find(name);
  if (snapshot == nullptr) return ClusterNotFoundError(name);
  uses_.push_back({name, snapshot->record().serial});
  return snapshot;
}

void NamedClusters::AddBoth(const std::string& path,
                            base::Violations& violations) {
  violations.Add(absl::StrCat(path, path.empty() ? "" : ".", "cluster_name"),
                 "is given beside cluster; give one of the two");
}

}  // namespace prism::server
