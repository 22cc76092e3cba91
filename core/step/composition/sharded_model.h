// ShardedModel: a step of replicas that wait for each other, as laws.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_MODEL_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_MODEL_H_

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/step/composition/sharded_barrier.h"
#include "core/step/composition/sharded_program.h"

namespace prism::step {

// Values of a law at standard normal scores: a cubic where the law is close to
// normal, else a table.
class ScoreCurve {
 public:
  // The constant 0.
  ScoreCurve() = default;
  explicit ScoreCurve(const TailLaw& law);

  bool is_constant() const { return constant_; }
  // Whether only a table follows it: worth exact scores.
  bool is_table() const { return !table_.empty(); }
  double mean() const { return mean_; }
  double deviation() const { return deviation_; }

  // out[i] += factor[i] * value(score[i]).
  void Add(std::span<const double> score, std::span<const double> factor,
           double* out) const;
  double At(double score) const;

 private:
  static constexpr int kCells = 1024;
  static constexpr double kEnd = 5.5;

  bool constant_ = true;
  double mean_ = 0, deviation_ = 0;
  double cubic_[4] = {};  // highest power first
  std::vector<double> table_;
};

// Stretches without meetings in a row, or one with meetings.
struct ShardedItem {
  bool meets = false;
  int stretch = 0;           // of a meeting
  int microbatch = kAbsent;  // of a meeting whose moments the load decides
  double network_constant = 0;
  // Without loads: by ratio node, then by entry (one where lanes are alike).
  std::vector<std::vector<ScoreCurve>> compute;
  ScoreCurve network;  // of each lane, one draw
  // Barriers whose moments the load decides.
  std::vector<StretchRun> loaded;
};

// Immutable and thread-safe.
struct ShardedModel {
  const StepGraph* graph = nullptr;
  ShardedProgram program;
  // Step-wide random factors; constant ones are in the laws.
  std::vector<const SharedFactor*> factors;
  const stats::Distribution* load = nullptr;  // null: none
  // Ratios of network to compute factors that laws are built for; one entry
  // where no barrier mixes them.
  std::vector<double> ratios;
  // [ratio][stretch].
  std::vector<std::vector<StretchLaw>> laws;
  std::vector<ShardedItem> items;
  // Lanes that are simulated: 1 where one draw stands for the latest of all.
  int lanes = 1;
  bool lanes_alike = true;
};

// Nothing where the graph's structure is outside what the method can bound.
std::optional<ShardedModel> BuildShardedModel(const CompiledGraph& compiled);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_MODEL_H_
