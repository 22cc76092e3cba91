// Barriers of all replicas: what a stretch adds to the clocks.
//
// A stretch without meetings adds to lane l the maximum over replicas of their
// own work, a product of distribution functions. With meetings it is linear in
// the max-plus sense: lane l ends at max over k of (clock k + M[k][l]) with
// M[k][l] the maximum over replicas of lane k's work before the first meeting,
// what follows it, and lane l's work after the last. The laws of M are exact
// up to the sum of parts; its entries depend on each other through what they
// share, which a normal copula of three common scores carries.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_BARRIER_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_BARRIER_H_

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/step/composition/sharded_law.h"
#include "core/step/composition/sharded_program.h"

namespace prism::step {

// Moments of what one replica adds, by what multiplies them: compute factors
// or network factors.
struct WorkMoments {
  double compute_mean = 0;
  double network_mean = 0;
  double compute_variance = 0;
  double network_variance = 0;

  // With compute draws `factor` times as long.
  double mean(double factor) const {
    return factor * compute_mean + network_mean;
  }
  double variance(double factor) const {
    return factor * factor * compute_variance + network_variance;
  }
};

// Weights of the scores that entries of M share: with all others, with those
// of the same first lane, of the same last lane, and their own. The squares
// sum to 1.
struct MeetingCopula {
  double common = 0, same_first = 0, same_last = 0, own = 1;
};

// A rare, long draw that is left out of the laws: of a shared collective or
// between meetings, of a lane before the first meeting, or after the last.
struct StretchStall {
  enum class Place { kShared, kFirst, kLast };

  Place place = Place::kShared;
  FactorClass factor_class = FactorClass::kCompute;
  TailLaw seconds;      // of the stalled draw
  double typical = 0;   // what the draw takes otherwise
  double expected = 0;  // how many stall among all replicas, for each lane

  // By how much the longest of the stalls exceeds what is typical, at the
  // standard normal score of the longest; nothing where none stalls.
  std::optional<double> ExcessAt(double score) const;
};

// Work of one replica in a stretch with meetings, where replicas are drawn one
// by one. Laws are those at speed 1, rare stalls among them.
struct ReplicaWork {
  // Of a lane before the first meeting and after the last.
  TailLaw first_compute, first_network, last_compute, last_network;
  TailLaw collectives;
  // The latest lanes of all meetings but the first.
  TailLaw latest;
  // What those become in each replica: scale and offset; empty where alike.
  std::vector<std::pair<double, double>> latest_of;
};

// Immutable and thread-safe.
struct StretchLaw {
  bool meets = false;
  // What a replica adds at the stage's factor, without slowdown and load; not
  // where replicas are drawn one by one.
  TailLaw own;
  std::shared_ptr<const HazardTable> own_hazard;
  WorkMoments own_moments;
  // Entries: 1 where lanes are alike; else by lane or, with meetings,
  // [first lane * lanes + last lane].
  // Entries with the same law share it.
  std::vector<std::shared_ptr<const TailLaw>> barrier;
  // [entry][replica]; empty where replicas are alike.
  std::vector<std::vector<WorkMoments>> replicas;
  // Constant network time, the same for all replicas and at network factor 1
  // of the step: not part of `own`.
  double network_constant = 0;
  MeetingCopula copula;
  // Where replicas are drawn one by one: in place of `barrier` and copula.
  std::shared_ptr<const ReplicaWork> work;
  // Of the latest of all entries, known but where the load decides.
  std::shared_ptr<const TailLaw> latest;
  std::vector<StretchStall> stalls;  // with meetings
  // Replicas with two stalls in the stretch, on average.
  double stalls_together = 0;
  // Where the load decides: what stalls add to one barrier on top.
  std::vector<TailLaw> excess;

  const TailLaw& barrier_of(int entry) const {
    return barrier.size() == 1 ? *barrier[0] : *barrier[entry];
  }
};

// Laws of distributions, each made once.
class TailLawCache {
 public:
  explicit TailLawCache(const StepGraph& graph)
      : graph_(graph), law_(graph.distributions.size()) {}

  const TailLaw& Get(int distribution);

 private:
  const StepGraph& graph_;
  std::vector<std::unique_ptr<TailLaw>> law_;
};

struct StretchSetting {
  // On draws, by FactorClass: stage scale and constant shared factors.
  std::array<double, kFactorClasses> factor = {1, 1, 1};
  // The loads, where the barrier is known given them only; else null.
  const stats::Distribution* load = nullptr;
  bool needs_copula = true;
  // Whether replicas of stretches with meetings are drawn one by one.
  bool one_by_one = false;
};

// The law of `stretch`, or nothing where its draws bear unlike factors, where
// its entries of all replicas are too many to keep or where the budget is over.
std::optional<StretchLaw> BuildStretchLaw(const StepGraph& graph,
                                          const Stretch& stretch,
                                          const StretchSetting& setting,
                                          TailLawCache& cache,
                                          const base::Budget& budget);

// Correlation of the scores of `copies` equally correlated draws of `one` at
// which the mean of the largest is `mean_of_latest`.
double CorrelationOfLatest(const TailLaw& one, int copies,
                           double mean_of_latest);

// Correlation of the normal scores of the maxima of `count` pairs of standard
// normals with correlation `rho`.
double CorrelationOfMaxima(double count, double rho);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_BARRIER_H_
