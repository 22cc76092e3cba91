// What was looked for in observed steps, and what came of it.
#ifndef PRISM_CORE_TRACE_LEARN_FINDING_H_
#define PRISM_CORE_TRACE_LEARN_FINDING_H_

#include <string>
#include <vector>

#include "core/stats/dependence.h"

namespace prism::trace {

// Probability with which at least one thing is found in steps that have none.
inline constexpr double kFalseFinds = 0.01;

struct Finding {
  std::string what;  // "load of a micro-batch, on all stages: forward-compute"
  double p = 1;      // as TestResult
  double strength = 0;
  bool found = false;
  // Whether draws are taken together: found, or there are too few
  // observations for not finding it to mean anything.
  bool together = false;
};

// Judges tests at a level that keeps kFalseFinds over all of them.
// Not thread-safe.
class Judge {
 public:
  // `tests`: how many there will be, at least 1.
  explicit Judge(size_t tests)
      : level_(kFalseFinds / static_cast<double>(tests)),
        pairs_to_decide_(stats::PairsToDecide(level_)) {}

  // Notes the outcome; whether it was found.
  bool Found(std::string what, const stats::TestResult& result);
  // The same; whether draws are to be taken together. `observations`: how many
  // independent ones the test had.
  bool Together(std::string what, const stats::TestResult& result,
                double observations);

  // Whether not to find something in so many observations means anything.
  bool Decides(double observations) const {
    return observations >= pairs_to_decide_;
  }
  double level() const { return level_; }
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  double level_;
  double pairs_to_decide_;
  std::vector<Finding> findings_;
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_LEARN_FINDING_H_
