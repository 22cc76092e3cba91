// The nodes a job may have, and what its placement must obey.
#ifndef PRISM_CORE_PLACEMENT_POOL_H_
#define PRISM_CORE_PLACEMENT_POOL_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/placement/job_model.h"

namespace prism::placement {

struct Constraints {
  std::vector<int64_t> exclude;  // nodes that are not to be used
  int64_t spares = 0;            // nodes kept free beside the job
  // All nodes lie in one unit of this fabric level, by name. Empty: anywhere.
  std::string within;
  // The nodes come in blocks of this many, each in one unit of the innermost
  // level that holds as many. Divides the number of nodes. 0: no blocks.
  int64_t segment_nodes = 0;
};

// Nodes that can be taken together: the free nodes, or those of one unit where
// a placement must lie within one.
struct Pool {
  // The fastest first, then by number.
  std::vector<int64_t> nodes;
};

class Pools final {
 public:
  // `free_nodes` as of OptimizeRequest. A node whose factor is known as a
  // distribution is taken for so many deviations, `caution`, above its mean.
  // Requires: `model` outlives it.
  Pools(const JobModel& model, std::span<const int64_t> free_nodes,
        const Constraints& constraints, double caution);

  // Empty where the job does not fit; reason() then says why.
  const std::vector<Pool>& pools() const { return pools_; }
  const std::string& reason() const { return reason_; }

  // Whether blocks lie as they must.
  bool Obeys(std::span<const int64_t> nodes) const;
  // Whether two nodes may take each other's places with regard to blocks.
  bool SameBlockUnit(int64_t a, int64_t b) const {
    return segment_level_ < 0 || model_.units().Unit(segment_level_, a) ==
                                     model_.units().Unit(segment_level_, b);
  }
  int64_t segment_nodes() const { return constraints_.segment_nodes; }
  // Level of FabricUnits a block lies in, -1 for none.
  int segment_level() const { return segment_level_; }

  // Free nodes that `nodes` leaves, the fastest `spares` of them.
  std::vector<int64_t> Spares(std::span<const int64_t> nodes) const;

  // What a node is taken for: its factor, or what is assumed of a node that
  // nobody measured.
  double FactorOf(int64_t node) const { return factor_[node]; }
  // By node, as of JobModel::PositionSlowdowns.
  const std::vector<double>& factors() const { return measured_; }
  // All free nodes, in the order they were given.
  const std::vector<int64_t>& given() const { return given_; }

 private:
  void TakeFree(std::span<const int64_t> free_nodes);
  void SetFactors(double caution);
  void SetSegmentLevel();
  void Split();
  std::string WhyNone() const;
  int64_t KeepBlocks(std::vector<int64_t>& nodes) const;
  void AddPool(std::vector<int64_t> nodes);

  const JobModel& model_;
  Constraints constraints_;
  int segment_level_ = -1;
  std::vector<double> measured_;  // by node, kNotMeasured where nobody did
  std::vector<double> factor_;    // by node
  std::vector<int64_t> given_;
  std::vector<Pool> pools_;
  std::string reason_;
};

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_POOL_H_
