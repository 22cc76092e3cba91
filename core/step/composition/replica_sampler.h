// ReplicaSampler: samples of when each stage of a replica is done.
#ifndef PRISM_CORE_STEP_COMPOSITION_REPLICA_SAMPLER_H_
#define PRISM_CORE_STEP_COMPOSITION_REPLICA_SAMPLER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/budget.h"
#include "core/step/composition/control_weights.h"
#include "core/step/composition/pipeline_model.h"

namespace prism::step {

// How one kind of replica differs from the model: by site, factors on the mean
// of the compute part and on the spread.
struct KindFactors {
  std::vector<float> mean;
  std::vector<float> spread;
};

// One simulated replica and its mirror image, in which every score is negated:
// together their mean is surer than that of two others.
struct ReplicaPair {
  int kind = 0;         // index into the list of kinds
  uint32_t sample = 0;  // names its random streams
  int stalls = 0;       // rare stalls it suffers
};

// Not thread-safe: one per thread, reused from block to block.
class ReplicaSampler {
 public:
  // Pairs that one block holds.
  static constexpr size_t kBlock = 64;

  // Requires: `model` and `kinds` outlive the sampler. `kinds` may be empty:
  // every sample is of the model's own kind.
  ReplicaSampler(const PipelineModel& model, std::span<const KindFactors> kinds,
                 uint64_t random_key);

  // Simulates `pairs` (at most kBlock) and writes when stage s of pair i is
  // done, less model.nominal_end[s], to ends[s][2 * i], and of its mirror image
  // to ends[s][2 * i + 1]. False where the budget was cancelled half-way.
  bool Run(std::span<const ReplicaPair> pairs, const base::Budget& budget,
           std::span<float* const> ends);

  // The same, and control[i] is the sum of pair i's scores by `weights`, those
  // of the model; of its mirror image it is the negative.
  bool RunControlled(std::span<const ReplicaPair> pairs,
                     const ControlWeights& weights, const base::Budget& budget,
                     std::span<float* const> ends, float* control);

  // That control alone, without a simulation.
  void DrawControl(std::span<const ReplicaPair> pairs,
                   const ControlWeights& weights, float* control);

  // The same as Run, but all scores of pair i are moved along `weights` so that
  // its control is `at` instead of control[i]; that of its mirror image is the
  // negative.
  bool RunMoved(std::span<const ReplicaPair> pairs,
                const ControlWeights& weights, const float* control, float at,
                const base::Budget& budget, std::span<float* const> ends);

  // The same as Run, and adds the longest path of each pair and mirror image to
  // `paths`. A stage is followed by `closing_mean` seconds.
  bool RunTraced(std::span<const ReplicaPair> pairs,
                 std::span<const double> closing_mean,
                 const base::Budget& budget, std::span<float* const> ends,
                 CriticalPaths& paths);

  // The same with every draw at its mean.
  bool RunQuietly(std::span<const ReplicaPair> pairs,
                  const base::Budget& budget, std::span<float* const> ends);

 private:
  struct Stall {
    size_t operation = 0;
    size_t element = 0;
    float extra = 0;
  };

  void CopyEnds(size_t pairs, std::span<float* const> ends) const;
  void BeginBlock(std::span<const ReplicaPair> pairs);
  void DrawLoads();
  void PlaceStalls(std::span<const ReplicaPair> pairs);
  void RunOperation(size_t index);
  void TakeScore(float weight, float* score);
  void MarkWaits(size_t index);
  void TracePaths(size_t pairs, std::span<const double> closing_mean,
                  CriticalPaths& paths) const;
  const float* NextScores();
  void Deviation(const OperationLaw& law, float* out);
  void FillFactors(std::span<const ReplicaPair> pairs);
  void FillAlike(const KindFactors& kind);
  void ApplyFactors(const PipelineOperation& op, const OperationLaw& law);
  void ApplyStalls(size_t index);
  void Draw(const ScoreDraw& draw, float* out);
  const ScorePolynomial* OnlyPolynomial(const PipelineOperation& op) const;

  const PipelineModel& model_;
  std::span<const KindFactors> kinds_;
  const uint64_t random_key_;

  bool quiet_ = false;
  bool traced_ = false;
  std::vector<uint8_t> waited_;  // [operation][element], where traced
  const ControlWeights* weights_ = nullptr;
  std::vector<float> control_;  // by pair
  std::vector<float> move_;     // along the weights, by element, or empty
  size_t drawn_scores_ = 0;
  size_t half_ = 0;   // pairs, padded
  size_t width_ = 0;  // of a row: the pairs, then their mirror images
  std::vector<uint32_t> sample_;
  std::vector<float> clock_;    // [stage][element]
  std::vector<float> arrival_;  // [slot][element]
  std::vector<float> score_;    // [row][element]
  int next_score_ = kScoreRows;
  uint32_t group_ = 0;
  std::vector<float> load_;  // [micro-batch][element]
  // What the kinds of a block make of a deviation: it is multiplied by the
  // spread, then shifted. [site][element], seconds.
  std::vector<float> shift_, spread_;
  // The same where all pairs of a block are of one kind, folded into the
  // operations' polynomials, by site.
  bool alike_ = false;
  int alike_kind_ = -1;
  std::vector<ScorePolynomial> alike_polynomial_;
  std::vector<float> deviation_, extra_;
  std::vector<Stall> stalls_;
  size_t next_stall_ = 0;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_REPLICA_SAMPLER_H_
