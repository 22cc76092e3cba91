// DurationPool: mean and median of any number of durations in little memory.
//
// The mean is exact. The median is that of a histogram whose cells are 1/8192
// of their value wide, each represented by the mean of what fell into it.
// Not thread-safe.
#ifndef PRISM_CORE_TRACE_REPLAY_DURATION_POOL_H_
#define PRISM_CORE_TRACE_REPLAY_DURATION_POOL_H_

#include <absl/container/flat_hash_map.h>

#include <cstdint>

namespace prism::trace {

class DurationPool {
 public:
  // Durations may be below 0: clocks of workers differ.
  void Add(double seconds);

  int64_t count() const { return count_; }
  // 0 without durations.
  double Mean() const;
  // The mean of the two in the middle where there are two.
  double Median() const;

 private:
  struct Cell {
    int64_t count = 0;
    double sum = 0;
  };

  absl::flat_hash_map<int32_t, Cell> cells_;
  int64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_DURATION_POOL_H_
