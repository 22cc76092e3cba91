// ShardedSampler: samples of a step from its ShardedModel.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_SAMPLER_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_SAMPLER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/budget.h"
#include "core/step/composition/hypercube.h"
#include "core/step/composition/sharded_load.h"
#include "core/step/composition/sharded_model.h"

namespace prism::step {

// One batch of samples, stratified among themselves and independent of those
// with another key. Not thread-safe.
class ShardedSampler {
 public:
  // Requires: `model` outlives the sampler; samples is a multiple of 32.
  ShardedSampler(const ShardedModel& model, uint64_t random_key, int samples);

  // Seconds of each step; empty where the budget was cancelled.
  std::vector<double> Run(const base::Budget& budget);

 private:
  // Rows of normal scores, the first ones stratified. A row holds until the
  // next is asked for.
  class ScoreSource {
   public:
    ScoreSource(uint64_t key, int samples, int stratified);
    const float* Next();
    // For draws that few others even out.
    const float* NextExact();

   private:
    uint64_t key_;
    Hypercube cube_;
    int stratified_;
    uint32_t group_ = 0;
    int row_ = 0;
    std::vector<uint32_t> sample_;
    std::vector<float> scores_;
    std::vector<float> exact_;
  };
  using ScoreRow = std::vector<float>;

  void DrawFactors();
  void PlaceBetweenRatios();
  bool DrawLoads(const base::Budget& budget);
  void AddItem(const ShardedItem& item);
  void AddSum(const ShardedItem& item, int lane);
  void AddLoaded(const ShardedItem& item, int lane);
  void AddCurve(const ScoreCurve& curve, const std::vector<double>& factor,
                double* clock);
  void AddCurves(const ItemCurves& curves, int entry, double* clock);
  void AddMeetingCurves(const ShardedItem& item, int entry, const float* score,
                        double* clock);
  void Meet(const ShardedItem& item);
  // By lane; one list for all lanes where the stalls are shared.
  using StallRows = std::vector<std::vector<std::pair<int, double>>>;
  // (sample, seconds from the start of the stretch) of replicas that stall.
  StallRows DrawStalls(const StretchLaw& law, StretchStall::Place place);
  void AddLoadMoments(int stretch, int microbatch, int entry, double count);

  const ShardedModel& model_;
  const uint64_t random_key_;
  const size_t n_;
  ScoreSource scores_;
  std::vector<double> compute_, network_;  // step-wide factors
  // Weights of the models' ratio nodes, times the compute factor: [ratio][i].
  std::vector<std::vector<double>> ratio_weight_;
  // [micro-batch][i]: row of the pool.
  std::vector<std::vector<int>> load_row_;
  // [ratio][stretch][entry][row]; empty where the load does not decide.
  std::vector<std::vector<std::vector<std::vector<BarrierMoments>>>> moments_;
  std::vector<std::vector<double>> clock_;  // [lane][i]
  std::vector<double> mean_, variance_, third_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_SAMPLER_H_
