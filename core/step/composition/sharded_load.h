// Loads: what one micro-batch's factors of all replicas make of its barriers.
//
// A replica with a long micro-batch is late at every barrier of it, so the
// barriers depend on each other through the loads. Given the loads they are
// independent, and each has a mean and a variance. A pool holds those for
// loads drawn once; a step takes one row of the pool for each micro-batch.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_LOAD_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_LOAD_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/budget.h"
#include "core/step/composition/sharded_barrier.h"

namespace prism::step {

// Moments of one barrier given the loads.
struct BarrierMoments {
  double mean = 0, variance = 0, third = 0;
};

// The law of the loads, and whose loads are drawn one by one: made once for all
// pools of a step. Immutable and thread-safe.
class ReplicaLoads {
 public:
  // Requires: `load` outlives this.
  ReplicaLoads(const StepGraph& graph, const stats::Distribution& load);

  // above <- quantiles at 1 - above. Requires: a whole number of vectors.
  void TakeQuantiles(std::vector<double>& above) const;

  int replicas() const { return replicas_; }
  // The slowest first; empty where all are alike.
  const std::vector<int>& slowest() const { return slowest_; }
  // All others; empty where all are alike.
  const std::vector<int>& others() const { return others_; }

 private:
  void ChooseSlowest(const StepGraph& graph);

  const stats::Distribution& load_;
  const ScoreLaw law_;
  const bool direct_;  // quantiles of the load itself are cheap and exact
  const int replicas_;
  std::vector<int> slowest_, others_;
};

// Not thread-safe.
class LoadPool {
 public:
  // Draws `rows` times the loads of all replicas: the largest ones from the
  // top of the order statistics down, those of the slowest replicas one by
  // one, and the rest by a few representatives. Rows are stratified by the
  // largest load, in ascending order. Requires: `loads` outlives the pool.
  LoadPool(const ReplicaLoads& loads, uint64_t random_key, int rows);

  int rows() const { return rows_; }

  // By row; entry as in StretchLaw. Empty where the budget is over.
  // Requires: the law was built for this load.
  std::vector<BarrierMoments> Moments(const StretchLaw& law, int entry,
                                      const base::Budget& budget) const;

 private:
  // One replica or several like it.
  struct Member {
    double load = 1;
    double count = 1;
    int replica = -1;  // -1: an average one
  };

  class UniformSource;

  void AssignReplicas(UniformSource& source, int largest);
  void DrawRows(uint64_t random_key);

  const ReplicaLoads& loads_;
  const int rows_;
  size_t members_ = 0;          // of each row
  std::vector<Member> member_;  // [row][member]
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_LOAD_H_
