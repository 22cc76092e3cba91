#include "core/trace/learn/finding.h"

#include <limits>
#include <utility>

namespace prism::trace {

bool Judge::Found(std::string what, const stats::TestResult& result) {
  return Together(std::move(what), result,
                  std::numeric_limits<double>::infinity());
}

bool Judge::Together(std::string what, const stats::TestResult& result,
                     double observations) {
  const bool found = result.p < level_;
  findings_.push_back({std::move(what), result.p, result.strength, found,
                       found || !Decides(observations)});
  return findings_.back().together;
}

}  // namespace prism::trace
