#include "core/trace/replay/stage_balance.h"

#include <algorithm>
#include <numeric>

namespace prism::trace {

StageBalance BalanceLayers(std::span<const double> seconds,
                           std::span<const int> layers) {
  std::vector<double> of_layer;
  for (size_t i = 0; i < seconds.size(); ++i) {
    of_layer.push_back(seconds[i] / layers[i]);
  }
  const auto middle =
      of_layer.begin() + static_cast<int64_t>((of_layer.size() - 1) / 2);
  std::nth_element(of_layer.begin(), middle, of_layer.end());
  const double layer = *middle;

  StageBalance balance;
  balance.layers.assign(layers.size(), 1);
  for (size_t i = 0; i < seconds.size(); ++i) {
    const double extra = seconds[i] - layer * layers[i];
    balance.seconds.push_back(std::max(extra, -layer * 0.5) + layer);
  }
  // One after the other to the stage that is shortest then: any other place
  // for a layer would end later.
  int left = std::accumulate(layers.begin(), layers.end(), 0) -
             static_cast<int>(layers.size());
  for (; left > 0; --left) {
    const auto i = static_cast<size_t>(
        std::min_element(balance.seconds.begin(), balance.seconds.end()) -
        balance.seconds.begin());
    ++balance.layers[i];
    balance.seconds[i] += layer;
  }
  return balance;
}

}  // namespace prism::trace
