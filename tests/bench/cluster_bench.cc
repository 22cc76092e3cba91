// Node updates of a stored cluster per second, and how long reading it takes
// meanwhile.
//
//   cluster_bench [seconds per measurement] [updates in flight]
//
// On the store itself, without gRPC: one update changes one node of 2,500 and
// is counted when it is on disk. The disk is that of the folder for temporary
// files; TMPDIR chooses another.
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <semaphore>
#include <thread>
#include <vector>

#include "server/cluster_store.h"
#include "server/metrics.h"
#include "server/temporary_folder.h"

namespace {

using prism::server::ClusterChange;
using prism::server::ClusterSnapshotPtr;
using prism::server::ClusterStore;

constexpr uint32_t kNodes = 2500;
constexpr double kGoal = 2000;  // "thousands a second"

ClusterChange Put() {
  prism::v1::Cluster cluster;
  cluster.set_accelerator("a100-80gb-sxm");
  cluster.set_nodes(kNodes);
  for (uint32_t node = 0; node < kNodes; ++node) {
    auto& state = *cluster.add_node_states();
    state.set_node(node);
    state.set_slowdown(1.01);
    cluster.add_node_names(absl::StrCat("node-", node));
  }
  return {"bench", "", ClusterChange::Put{cluster}};
}

ClusterChange Update(uint32_t node, double slowdown) {
  ClusterChange::UpdateNodes update;
  auto& state = *update.nodes.Add();
  state.set_node(node);
  state.set_slowdown(slowdown);
  return {"bench", "", std::move(update)};
}

// Updates acknowledged in `seconds`, `in_flight` at a time.
long UpdateFor(ClusterStore& store, double seconds, int in_flight) {
  std::counting_semaphore<> places(in_flight);
  std::atomic<long> acknowledged = 0;
  const absl::Time end = absl::Now() + absl::Seconds(seconds);
  for (uint32_t i = 0; absl::Now() < end; ++i) {
    places.acquire();
    store.Apply(Update(i % kNodes, 1 + 1e-6 * (i % 1000)),
                [&](const absl::StatusOr<ClusterSnapshotPtr>& result) {
                  if (result.ok()) ++acknowledged;
                  places.release();
                });
  }
  for (int i = 0; i < in_flight; ++i) places.acquire();
  return acknowledged;
}

// Reads until `done`; seconds of each reading.
std::vector<double> ReadUntil(const ClusterStore& store,
                              const std::atomic<bool>& done) {
  std::vector<double> seconds;
  uint32_t node = 0;
  while (!done) {
    const absl::Time start = absl::Now();
    const auto snapshot = store.Find("bench");
    node = (node + 1) % kNodes;
    if (snapshot->record().node_states.Find(node) == nullptr) std::abort();
    seconds.push_back(absl::ToDoubleSeconds(absl::Now() - start));
    absl::SleepFor(absl::Microseconds(200));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  const int in_flight = argc > 2 ? std::atoi(argv[2]) : 256;
  prism::server::TemporaryFolder folder;
  prism::server::Metrics metrics("bench");
  auto store = ClusterStore::Open(
      folder.path(), [] { return absl::Now(); }, metrics);
  if (!store.ok()) return 1;
  std::binary_semaphore stored(0);
  (*store)->Apply(Put(), [&](const auto&) { stored.release(); });
  stored.acquire();

  std::atomic<bool> done = false;
  std::vector<double> reads;
  std::thread reader([&] { reads = ReadUntil(**store, done); });
  const long updates = UpdateFor(**store, seconds, in_flight);
  done = true;
  reader.join();
  const double rate = static_cast<double>(updates) / seconds;
  std::printf(
      "%d updates in flight\n"
      "node updates    %8.0f /s (goal: at least %.0f)\n"
      "a reading       %8.1f us median, %.1f us p99, of %zu\n",
      in_flight, rate, kGoal, 1e6 * reads[reads.size() / 2],
      1e6 * reads[reads.size() * 99 / 100], reads.size());
  return rate >= kGoal ? 0 : 1;
}
