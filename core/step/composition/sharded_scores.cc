#include "core/step/composition/sharded_scores.h"

#include <numeric>
#include <utility>

#include "core/stats/draw_kernels.h"
#include "core/step/composition/pipeline_kernels.h"

namespace prism::step {
namespace {

constexpr uint32_t kShardedStreams = 0x5E000000;

// A mixing of all bits: the end of SplitMix64 (Steele, Lea and Flood,
// OOPSLA'14).
uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

}  // namespace

ScoreSource::ScoreSource(uint64_t key, int samples, int stratified)
    : key_(key),
      // Keys a fixed distance apart must not give one sequence, shifted.
      state_(Mix(Mix(key) ^ kShardedStreams)),
      stratified_(stratified),
      row_(kScoreRows),
      sample_(samples / 2),
      scores_(static_cast<size_t>(samples) * kScoreRows),
      stratum_(samples),
      exact_(samples) {
  std::iota(sample_.begin(), sample_.end(), 0U);
}

const float* ScoreSource::Next() {
  if (stratified_ > 0) {
    --stratified_;
    return NextExact();
  }
  // Of each pair of rows of samples the second mirrors the first.
  if (row_ == kScoreRows) {
    ScoreRows(key_, group_++, kShardedStreams, sample_.data(), sample_.size(),
              scores_.data());
    row_ = 0;
  }
  return &scores_[exact_.size() * row_++];
}

uint64_t ScoreSource::Random() {
  state_ += 0x9E3779B97F4A7C15;
  return Mix(state_);
}

const float* ScoreSource::NextExact() {
  const size_t n = exact_.size();
  const double place = (static_cast<double>(Random() >> 11) + 0.5) * 0x1p-53;
  for (size_t i = 0; i < n; ++i) {
    stratum_[i] = (static_cast<double>(i) + place) / static_cast<double>(n);
  }
  stats::NormalScores(stratum_.data(), n, stratum_.data());
  // Shuffled by Fisher and Yates; the upper half of the product of a random
  // 32-bit number with i is a number below i.
  for (size_t i = 0; i < n; ++i) {
    const size_t other = ((Random() >> 32) * (i + 1)) >> 32;
    exact_[i] = exact_[other];
    exact_[other] = static_cast<float>(stratum_[i]);
  }
  return exact_.data();
}

}  // namespace prism::step
