#include "core/trace/replay/implausible.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace prism::trace {
namespace {

constexpr double kFar = 50;             // median distances
constexpr double kSlackSeconds = 1e-5;  // starts are rounded

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Marks the operations that are far from all else.
void MarkFar(const Step& step, std::vector<bool>& marked) {
  std::vector<double> starts, distances;
  for (const Operation& o : step.operations) starts.push_back(o.start_seconds);
  const double middle = Median(starts);
  for (const double start : starts) {
    distances.push_back(std::abs(start - middle));
  }
  const double most = kFar * Median(distances);
  if (most <= 0) return;
  std::vector<size_t> far;
  std::set<std::pair<int32_t, int32_t>> workers, far_workers;
  for (size_t i = 0; i < step.operations.size(); ++i) {
    const Operation& o = step.operations[i];
    workers.emplace(o.replica, o.stage);
    if (distances[i] <= most && o.end_seconds() - middle <= most) continue;
    far.push_back(i);
    far_workers.emplace(o.replica, o.stage);
  }
  if (2 * far_workers.size() >= workers.size()) return;
  for (const size_t i : far) marked[i] = true;
}

// Marks those of [first, last), of one worker and kind, outside the longest
// run of operations whose starts rise with their sequences.
void MarkOutOfOrder(const Step& step, size_t first, size_t last,
                    std::vector<bool>& marked) {
  // ends[k]: the operation with which the best run of k + 1 ends.
  std::vector<size_t> ends, before(last - first, last);
  const auto start = [&step](size_t i) {
    return step.operations[i].start_seconds;
  };
  for (size_t i = first; i < last; ++i) {
    if (marked[i]) continue;
    const auto longer = std::upper_bound(
        ends.begin(), ends.end(), start(i) + kSlackSeconds,
        [&](double value, size_t other) { return value < start(other); });
    if (longer != ends.begin()) before[i - first] = *(longer - 1);
    if (longer == ends.end()) {
      ends.push_back(i);
    } else {
      *longer = i;
    }
  }
  if (ends.empty()) return;
  std::vector<bool> kept(last - first, false);
  for (size_t i = ends.back(); i != last; i = before[i - first]) {
    kept[i - first] = true;
  }
  for (size_t i = first; i < last; ++i) {
    if (!kept[i - first]) marked[i] = true;
  }
}

void MarkOutOfOrder(const Step& step, std::vector<bool>& marked) {
  const auto& all = step.operations;
  const auto key = [&all](size_t i) {
    return std::tuple(all[i].replica, all[i].stage, all[i].kind);
  };
  for (size_t first = 0; first < all.size();) {
    size_t last = first + 1;
    bool rises = true;
    for (; last < all.size() && key(last) == key(first); ++last) {
      rises = rises && all[last].start_seconds + kSlackSeconds >=
                           all[last - 1].start_seconds;
    }
    if (!rises) MarkOutOfOrder(step, first, last, marked);
    first = last;
  }
}

}  // namespace

int64_t TakeOutImplausible(Step& step) {
  if (step.operations.empty()) return 0;
  std::vector<bool> marked(step.operations.size(), false);
  MarkFar(step, marked);
  MarkOutOfOrder(step, marked);
  size_t kept = 0;
  for (size_t i = 0; i < marked.size(); ++i) {
    if (!marked[i]) step.operations[kept++] = step.operations[i];
  }
  const auto taken = static_cast<int64_t>(marked.size() - kept);
  step.operations.resize(kept);
  return taken;
}

}  // namespace prism::trace
