// ReplicaMaximum: when the last replica is done with each stage.
//
// The maximum over replicas has the product of their distribution functions.
// Replicas of one kind share a law; the kinds that can be last are simulated,
// the others are bounded away. The law of one kind has a mean and a deviation
// of its own and a shape that all share (EndFit), mixed with the strata of one
// and more rare stalls, so the product can be taken far out in the tail.
#ifndef PRISM_CORE_STEP_COMPOSITION_REPLICA_MAXIMUM_H_
#define PRISM_CORE_STEP_COMPOSITION_REPLICA_MAXIMUM_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <vector>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/stats/sample_quantiles.h"
#include "core/step/composition/end_fit.h"
#include "core/step/composition/pipeline_model.h"
#include "core/step/composition/replica_kinds.h"
#include "core/step/composition/replica_sampler.h"

namespace prism::step {

// The maximum of one stage over all replicas, by its normal score.
struct MaximumLaw {
  static constexpr double kEnd = 5;
  static constexpr double kStep = 1.0 / 8;
  static constexpr int kNodes = 2 * 5 * 8 + 1;
  static double NodeScore(int node) { return node * kStep - kEnd; }

  std::vector<double> seconds;  // by node, never falling
  // By node, how far parts of the sample would put `seconds` off.
  std::vector<EndFit::BatchOffsets> offsets;
  // By node, how far `seconds` may be off because the law of a replica is
  // extrapolated beyond what was simulated.
  std::vector<double> misfit;

  // Where a score lies among the nodes: the same for all laws.
  struct Place {
    int node = 0;
    double part = 0;  // of the way to the next
  };
  static Place PlaceOf(double score);

  // Linear between nodes, constant beyond the ends.
  double At(Place place) const {
    const double low = seconds[place.node];
    return low + place.part * (seconds[place.node + 1] - low);
  }
  double At(double score) const { return At(PlaceOf(score)); }
  // Standard error of At, as of the nearer node.
  double ErrorAt(double score) const;
  double MisfitAt(double score) const;
};

struct MaximumRequest {
  std::vector<ReplicaKind> kinds;
  // One per kind, or empty where all are of the model's own kind.
  std::vector<KindFactors> factors;
  // What follows a stage's last operation on average, in seconds: tells which
  // stage decides.
  std::vector<double> closing_mean;
  uint64_t random_key = 0;
};

// By how much a replica ends one stage before another, in seconds.
struct StageLag {
  double mean = 0;  // of the kind where it is least
  double deviation = 0;
  double least_stalled = 0;  // of the replicas with rare stalls; or infinite
};

// Grows a set of simulated replicas and fits the maxima to it. The result
// depends on the number of samples, not on the steps it was reached in. Not
// thread-safe.
class ReplicaMaximum {
 public:
  // Requires: `model` and `request` outlive the object.
  ReplicaMaximum(const PipelineModel& model, const MaximumRequest& request);
  ~ReplicaMaximum();

  // Simulates up to `samples` replicas in all.
  //
  // Errors: CANCELLED.
  absl::Status Extend(int64_t samples, const base::Budget& budget,
                      base::Executor& executor);

  // The law of each stage, from what was simulated. Stages in `needed` alone
  // are filled in. Requires: Extend was OK.
  //
  // Errors: CANCELLED.
  absl::StatusOr<std::vector<MaximumLaw>> Laws(
      const std::vector<bool>& needed, const base::Budget& budget) const;

  // Mean and deviation of one replica's end of `stage`, in seconds.
  // Requires: Extend was OK.
  stats::Moments EndOfStage(int stage) const;

  // How far the end of `stage` is behind that of `lead` in one replica.
  // Requires: Extend was OK.
  StageLag LagBehind(int lead, int stage) const;

 private:
  class Sampling;
  std::unique_ptr<Sampling> sampling_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_REPLICA_MAXIMUM_H_
