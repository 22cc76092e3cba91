#include "core/trace/replay/duration_pool.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace prism::trace {
namespace {

// The upper bits of a float, made to order as the floats do.
int32_t CellOf(double seconds) {
  constexpr int kDroppedBits = 10;  // of 23: the cells' width
  const auto bits = std::bit_cast<int32_t>(static_cast<float>(seconds));
  return (bits < 0 ? INT32_MIN - bits : bits) >> kDroppedBits;
}

}  // namespace

void DurationPool::Add(double seconds) {
  ++count_;
  sum_ += seconds;
  Cell& cell = cells_[CellOf(seconds)];
  ++cell.count;
  cell.sum += seconds;
}

double DurationPool::Mean() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

double DurationPool::Median() const {
  if (count_ == 0) return 0;
  std::vector<std::pair<int32_t, Cell>> cells(cells_.begin(), cells_.end());
  std::sort(cells.begin(), cells.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto at = [&](int64_t rank) {
    size_t i = 0;
    while (rank >= cells[i].second.count) rank -= cells[i++].second.count;
    return cells[i].second.sum / static_cast<double>(cells[i].second.count);
  };
  return (at((count_ - 1) / 2) + at(count_ / 2)) / 2;
}

}  // namespace prism::trace
