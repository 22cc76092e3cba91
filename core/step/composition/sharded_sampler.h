// ShardedSampler: samples of a step from its ShardedModel.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_SAMPLER_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_SAMPLER_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/budget.h"
#include "core/step/composition/sharded_load.h"
#include "core/step/composition/sharded_meeting.h"
#include "core/step/composition/sharded_model.h"
#include "core/step/composition/sharded_scores.h"

namespace prism::step {

// One batch of samples, independent of those with another key. Not
// thread-safe.
class ShardedSampler {
 public:
  // Most samples of one round: what one row of them costs is well below a
  // millisecond.
  static constexpr int kMostRoundSamples = 2048;

  // Where lanes meet, entries keep their own laws with `latest_weight` 0, and
  // the latest of them its law with 1; see docs/composition.md. Requires:
  // `model` outlives the sampler.
  ShardedSampler(const ShardedModel& model, uint64_t random_key,
                 double latest_weight);

  // Adds a round of samples, stratified among themselves. False, and nothing
  // is added, where the budget is over. Requires: samples is a multiple of 32
  // and at most kMostRoundSamples.
  bool Extend(int samples, const base::Budget& budget);

  // Seconds of each step.
  const std::vector<double>& steps() const { return steps_; }

 private:
  // Those that return bool: false where the budget is over.
  void StartRound(int samples);
  void DrawFactors();
  void PlaceBetweenRatios();
  bool DrawPool(const base::Budget& budget);
  bool DrawLoads(const base::Budget& budget);
  bool AddItem(const ShardedItem& item, const base::Budget& budget);
  void AddSum(const ShardedItem& item, int lane);
  bool AddLoaded(const ShardedItem& item, int lane, const base::Budget& budget);
  void AddCurve(const ScoreCurve& curve, const std::vector<double>& factor,
                double* clock);
  void AddCurves(const ItemCurves& curves, int entry, double* clock);
  bool Meet(const ShardedItem& item, const base::Budget& budget);
  bool MeetByRows(const ShardedItem& item, const base::Budget& budget,
                  std::vector<std::vector<double>>& next);
  bool MeetByLoad(const ShardedItem& item, const base::Budget& budget,
                  std::vector<std::vector<double>>& next);
  void AddStalls(const StretchLaw& law, std::vector<std::vector<double>>& next);
  // By lane; one list for all lanes where the stalls are shared.
  using StallRows = std::vector<std::vector<std::pair<int, double>>>;
  // (sample, seconds from the start of the stretch) of replicas that stall.
  StallRows DrawStalls(const StretchLaw& law, StretchStall::Place place);
  void AddLoadMoments(int stretch, int microbatch, int entry, double count);

  const ShardedModel& model_;
  const uint64_t random_key_;
  const double latest_weight_;
  uint64_t round_ = 0;
  uint64_t meeting_ = 0;  // of all rounds
  std::vector<double> steps_;
  // Of the round.
  size_t n_ = 0;
  std::optional<ScoreSource> scores_;
  std::vector<double> compute_, network_;  // step-wide factors
  // Weights of the models' ratio nodes, times the compute factor: [ratio][i].
  std::vector<std::vector<double>> ratio_weight_;
  // [micro-batch][i]: row of the pool.
  std::vector<std::vector<int>> load_row_;
  // Of all rounds. [ratio][stretch][entry][row]; empty where the load does not
  // decide.
  std::vector<std::vector<std::vector<std::vector<BarrierMoments>>>> moments_;
  std::vector<std::vector<double>> clock_;  // [lane][i]
  std::vector<double> mean_, variance_, third_;
  MeetingRows rows_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_SAMPLER_H_
