#include "client/prismctl/suggestion.h"

#include <algorithm>

namespace prism::prismctl {

int EditDistance(std::string_view a, std::string_view b) {
  const size_t rows = a.size() + 1;
  const size_t columns = b.size() + 1;
  std::vector<int> distance(rows * columns);
  const auto at = [&](size_t i, size_t j) -> int& {
    return distance[i * columns + j];
  };
  for (size_t i = 0; i < rows; ++i) at(i, 0) = static_cast<int>(i);
  for (size_t j = 0; j < columns; ++j) at(0, j) = static_cast<int>(j);
  for (size_t i = 1; i < rows; ++i) {
    for (size_t j = 1; j < columns; ++j) {
      const int replaced = at(i - 1, j - 1) + (a[i - 1] != b[j - 1]);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(rows - 1, columns - 1);
}

std::string Suggestion(std::string_view word,
                       const std::vector<std::string>& candidates) {
  std::string best;
  int best_distance = 0;
  for (const std::string& candidate : candidates) {
    const int distance = EditDistance(word, candidate);
    const int most = std::max<int>(1, static_cast<int>(candidate.size()) / 3);
    if (distance > most) continue;
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace prism::prismctl
