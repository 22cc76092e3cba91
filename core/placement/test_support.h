// What tests of this folder share: jobs, clusters and a clock that runs by
// itself.
#ifndef PRISM_CORE_PLACEMENT_TEST_SUPPORT_H_
#define PRISM_CORE_PLACEMENT_TEST_SUPPORT_H_

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "core/base/budget.h"
#include "core/hardware/cluster.h"
#include "core/placement/job_model.h"
#include "core/workload/job.h"

namespace prism::placement {

struct JobSize {
  int64_t tensor = 1;
  int64_t pipeline = 1;
  int64_t data = 1;
  int64_t microbatches = 4;
  int64_t virtual_stages = 1;
};

// A transformer with two layers a virtual stage.
workload::Job TestJob(const JobSize& size);

// Nodes in leaves of `leaf_nodes` under one twice oversubscribed top level.
hardware::Cluster TestCluster(int64_t nodes, int64_t gpus_per_node,
                              int64_t leaf_nodes);
// The same with one level between all nodes.
hardware::Cluster FlatCluster(int64_t nodes, int64_t gpus_per_node);

// Gives every node a factor 1 + |normal| * spread.
void SetSpeeds(double spread, uint64_t seed, hardware::Cluster& cluster);

// Requires: the job fits.
std::unique_ptr<JobModel> TestModel(const workload::Job& job,
                                    const hardware::Cluster& cluster);

// `count` different nodes in random order.
NodeList RandomNodes(const hardware::Cluster& cluster, int count,
                     std::mt19937_64& random);

// A budget that ends, or is cancelled, after so many looks at it.
class CountingBudget final : public base::Budget {
 public:
  enum class End { kDeadline, kCancelled };

  CountingBudget(int looks, End end) : looks_(looks), end_(end) {}

  bool Cancelled() const override { return end_ == End::kCancelled && Look(); }
  absl::Duration Elapsed() const override { return absl::ZeroDuration(); }
  absl::Duration Remaining() const override {
    if (end_ == End::kCancelled) return absl::InfiniteDuration();
    // Time runs out with the looks, so that reserves are heeded.
    return Look() ? absl::ZeroDuration() : absl::Milliseconds(looks_ + 1);
  }

 private:
  bool Look() const { return --looks_ < 0; }

  mutable int looks_;
  const End end_;
};

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_TEST_SUPPORT_H_
