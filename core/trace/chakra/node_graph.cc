#include "core/trace/chakra/node_graph.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <functional>
#include <queue>

namespace prism::chakra {
namespace {

// Later starts than this, of which sums could overflow, are not told apart.
constexpr int64_t kLatestNs = INT64_MAX / 2;

class Scheduler {
 public:
  explicit Scheduler(std::vector<TimedNode>& nodes)
      : nodes_(nodes),
        waits_(nodes.size(), 0),
        ready_ns_(nodes.size(), 0),
        done_(nodes.size(), false),
        followers_(nodes.size()) {}

  ScheduleProblems Run() {
    Link();
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (waits_[i] == 0) Offer(i);
    RunOffered();
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (done_[i]) continue;
      ++problems_.circular;
      Offer(i);
      waits_[i] = -1;  // nobody's end may offer it again
    }
    RunOffered();
    return problems_;
  }

 private:
  // (time at which it could start, id, place)
  using Offered = std::pair<std::pair<int64_t, uint64_t>, size_t>;

  void Link() {
    absl::flat_hash_map<uint64_t, size_t> places;
    for (size_t i = 0; i < nodes_.size(); ++i) places.emplace(nodes_[i].id, i);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const uint64_t id : nodes_[i].waits_for) {
        const auto found = places.find(id);
        if (found == places.end()) {
          ++problems_.unknown;
          continue;
        }
        followers_[found->second].push_back(i);
        ++waits_[i];
      }
    }
  }

  void Offer(size_t place) {
    offered_.push({{ready_ns_[place], nodes_[place].id}, place});
  }

  void RunOffered() {
    while (!offered_.empty()) {
      const size_t place = offered_.top().second;
      offered_.pop();
      if (done_[place]) continue;
      RunNode(place);
    }
  }

  void RunNode(size_t place) {
    TimedNode& node = nodes_[place];
    int64_t& free_ns = lane_free_ns_[node.lane];
    node.start_ns = std::min(kLatestNs, std::max(ready_ns_[place], free_ns));
    const int64_t end = node.start_ns + node.duration_ns;
    free_ns = end;
    done_[place] = true;
    for (const size_t follower : followers_[place]) {
      ready_ns_[follower] = std::max(ready_ns_[follower], end);
      if (--waits_[follower] == 0) Offer(follower);
    }
  }

  std::vector<TimedNode>& nodes_;
  std::vector<int64_t> waits_, ready_ns_;
  std::vector<bool> done_;
  std::vector<std::vector<size_t>> followers_;
  absl::flat_hash_map<int32_t, int64_t> lane_free_ns_;
  std::priority_queue<Offered, std::vector<Offered>, std::greater<>> offered_;
  ScheduleProblems problems_;
};

}  // namespace

ScheduleProblems Schedule(std::vector<TimedNode>& nodes) {
  return Scheduler(nodes).Run();
}

}  // namespace prism::chakra
