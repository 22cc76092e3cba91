// Scenarios: what may be true of the nodes' speeds, the same for all
// candidates.
//
// A node whose factor is known as a distribution has one draw of it in each
// scenario, named by node and scenario alone: two candidates that share a node
// share its luck.
#ifndef PRISM_CORE_PLACEMENT_SCENARIOS_H_
#define PRISM_CORE_PLACEMENT_SCENARIOS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/hardware/cluster.h"
#include "core/placement/job_model.h"

namespace prism::placement {

// Immutable and thread-safe.
class Scenarios final {
 public:
  // A multiple of kColumns.
  static constexpr int kMost = 1024;

  // Draws the factors of `nodes`, which may repeat.
  Scenarios(const hardware::Cluster& cluster, std::span<const int64_t> nodes,
            uint64_t random_key);

  // False where every factor is known.
  bool any() const { return !factors_.empty(); }
  bool IsDoubtful(int64_t node) const { return row_of_[node] >= 0; }
  // Factors of the node by scenario. Requires: IsDoubtful(node).
  std::span<const double> Factors(int64_t node) const {
    return {&factors_[static_cast<size_t>(row_of_[node]) * kMost], kMost};
  }

 private:
  std::vector<int32_t> row_of_;  // by node, -1 where it is known
  std::vector<double> factors_;
};

// Means of a placement's step by scenario, for kColumns scenarios at once.
// Not thread-safe.
class ScenarioEvaluator final {
 public:
  // Requires: both outlive it.
  ScenarioEvaluator(JobModel& model, const Scenarios& scenarios,
                    double relative_deviation);

  // Writes the means under scenarios first ... first + kColumns - 1. `gain` is
  // what a replica's mean end is above its end without chance.
  void Means(const NodeList& nodes, const Communication& communication,
             double gain, int first, double* means);

 private:
  void SetPositions(const NodeList& nodes, int first);
  void SetCell(int replica, int stage, float* slowdown);

  JobModel& model_;
  const Scenarios& scenarios_;
  const double relative_deviation_;
  ReplicaResponse::Workspace workspace_;
  std::vector<double> position_;  // [position][column]
  std::vector<double> column_;    // of one scenario, by position
  std::vector<float> slowdown_;   // [replica][stage][column]
  std::vector<float> clock_;
  std::vector<float> slowest_;  // [stage][column]
  std::vector<float> ends_;     // [replica][stage][column]
};

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_SCENARIOS_H_
