#include "core/step/composition/replica_kinds.h"

#include <cstring>
#include <string_view>
#include <unordered_map>

namespace prism::step {

std::vector<ReplicaKind> FindReplicaKinds(const StepGraph& graph) {
  const int replicas = graph.grid.replicas;
  if (graph.slowdown.empty()) return {{0, replicas}};
  const size_t ranks =
      static_cast<size_t>(graph.grid.stages) * graph.grid.lanes;
  std::vector<ReplicaKind> kinds;
  // Slowdowns by their bytes: equal doubles above 0 have equal bytes.
  std::unordered_map<std::string_view, size_t> known;
  for (int r = 0; r < replicas; ++r) {
    const std::string_view bytes(
        reinterpret_cast<const char*>(&graph.slowdown[r * ranks]),
        ranks * sizeof(double));
    const auto [entry, is_new] = known.try_emplace(bytes, kinds.size());
    if (is_new) {
      kinds.push_back({r, 1});
    } else {
      ++kinds[entry->second].count;
    }
  }
  return kinds;
}

}  // namespace prism::step
