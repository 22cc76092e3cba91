// OperationLaw: all draws of one operation as one or a few.
//
// Inside an operation the lanes of a stage start together and, where it ends in
// a synchronisation of all lanes, end together. Then the operation is a sum of
// independent parts: lane maxima of sums of draws, and shared draws of
// collectives. Where lanes end apart they are taken to wait for each other, and
// `lane_slack` bounds what that adds. Parts that are close to normal are merged
// through their cumulants into one polynomial of one normal score; the others
// keep a draw of their own, read from a table.
#ifndef PRISM_CORE_STEP_COMPOSITION_OPERATION_LAW_H_
#define PRISM_CORE_STEP_COMPOSITION_OPERATION_LAW_H_

#include <map>
#include <optional>
#include <vector>

#include "core/step/composition/pipeline_kernels.h"
#include "core/step/composition/score_law.h"
#include "core/step/step_graph.h"

namespace prism::step {

// A deviation from the mean drawn from one normal score.
struct ScoreDraw {
  bool is_polynomial = true;
  ScorePolynomial polynomial = {};
  std::vector<float> table;  // where it is no polynomial
};

// A rare, long draw: left out of the laws and stratified on its number.
struct RareStall {
  double probability = 0;  // per operation
  ScoreLaw seconds;        // of the stalled draw
  double typical = 0;      // what the draw takes otherwise
};

// What one lane does before the lanes meet.
struct LanePart {
  ScoreLaw lane;      // of one lane at factor 1
  double share = 1;   // of its mean that lane factors multiply
  double copies = 1;  // in the operation
};

struct OperationLaw {
  double mean = 0;          // seconds, at factor 1
  double compute_mean = 0;  // the part of it that compute factors multiply
  double variance = 0;
  // Share of the variance that compute factors do not touch.
  double network_share = 0;
  std::vector<ScoreDraw> draws;
  std::vector<RareStall> stalls;
  std::vector<LanePart> lane_parts;
  // Most that the mean is too long because lanes that would end apart are taken
  // to end together.
  double lane_slack = 0;
};

// How a program is run.
struct OperationSetting {
  // Factor on compute draws: stage scale and the means of shared factors.
  double compute_factor = 1;
  // Factor on network draws.
  double network_factor = 1;
  // Weight below which a mixture's component is a rare stall.
  double rare_weight = 0;
};

// Laws of distributions, tabulated once each and shared by all programs and
// settings. Not thread-safe.
class LawTable {
 public:
  // Requires: `graph` outlives the cache.
  explicit LawTable(const StepGraph& graph) : graph_(graph) {}

  struct Entry {
    // The distribution without its rare stalls.
    stats::Distribution common;
    std::vector<stats::MixtureComponent> rare;
    ScoreLaw law;
    Cumulants cumulants = {};
  };

  // Requires: the same `rare_weight` at every call.
  const Entry& Get(int distribution, double rare_weight);

  // ScoresOfOneAmong the lanes of a replica.
  const std::vector<double>& ScoresOfOneLane();

 private:
  const StepGraph& graph_;
  std::map<int, Entry> entries_;
  std::vector<double> one_lane_;
};

// The law of `program`, or nothing where ranks meet in other groups than all
// lanes or a part is too far from normal to be summed.
std::optional<OperationLaw> ReduceOperation(const StepGraph& graph,
                                            const Program& program,
                                            const OperationSetting& setting,
                                            LawTable& cache);

// Deviation of `law` from `mean` as a draw: a polynomial where one fits to a
// hundredth of the spread within four standard deviations, else a table.
ScoreDraw MakeDraw(const ScoreLaw& law, double mean, double spread);

// `distribution` without components of weight below `rare_weight`, which are
// appended to `rare` with their weights.
stats::Distribution SplitRare(const stats::Distribution& distribution,
                              double rare_weight,
                              std::vector<stats::MixtureComponent>* rare);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_OPERATION_LAW_H_
