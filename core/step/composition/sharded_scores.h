// ScoreSource: rows of standard normal scores for samples of a step.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_SCORES_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_SCORES_H_

#include <cstdint>
#include <vector>

namespace prism::step {

// A row is a coordinate of all samples. Rows are independent of each other, and
// sources with other keys too. Not thread-safe.
class ScoreSource {
 public:
  // The first `stratified` rows of Next() are NextExact(). Requires: `samples`
  // is a multiple of 32.
  ScoreSource(uint64_t key, int samples, int stratified);

  // A row of plain scores (ScoreRows). It holds until the next is asked for.
  const float* Next();

  // One score in each of as many equally likely strata as there are samples,
  // at the same place of each, in random order. For draws that few others even
  // out. It holds until the next is asked for.
  const float* NextExact();

 private:
  uint64_t Random();

  uint64_t key_;
  uint64_t state_;
  int stratified_;
  uint32_t group_ = 0;
  int row_;
  std::vector<uint32_t> sample_;
  std::vector<float> scores_;
  std::vector<double> stratum_;
  std::vector<float> exact_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_SCORES_H_
