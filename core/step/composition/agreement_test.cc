// The structured method against the reference method, on random profiles of
// every schedule. With PRISM_TEST_SLOW set, on more of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "core/step/composition/structured.h"
#include "core/step/random_profile.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

constexpr int64_t kReferenceSamples = 20000;
// p05 to p99: the quantiles that an answer is judged by.
constexpr size_t kFirstLevel = 1;

// Profiles of each sort: any, few of which are answered by structure, and
// steady ones, most of which are.
uint64_t Seeds() {
  return std::getenv("PRISM_TEST_SLOW") != nullptr ? 300 : 40;
}
// Of the steady ones.
constexpr double kLeastAnswered = 0.75;

struct Comparison {
  uint64_t seed = 0;
  bool steady = false;
  StepTime structured, reference;

  double spread() const {
    return reference.quantile_seconds[4] - reference.quantile_seconds[2];
  }
  double off(size_t level) const {
    return structured.quantile_seconds[level] -
           reference.quantile_seconds[level];
  }
};

std::optional<Comparison> Compare(uint64_t seed, bool steady) {
  const StepGraph graph =
      BuildGraph(steady ? RandomSteadyProfile(seed) : RandomProfile(seed));
  const auto compiled = Compile(graph);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return std::nullopt;
  base::InlineExecutor executor;
  const auto time =
      SimulateStructured(*compiled, {.samples = {}, .random_key = seed},
                         base::UnlimitedBudget(), executor);
  if (!time.has_value()) return std::nullopt;
  EXPECT_TRUE(time->ok()) << time->status();
  if (!time->ok()) return std::nullopt;
  // Independent draws.
  return Comparison{seed, steady, **time,
                    SimulateSamples(graph, kReferenceSamples, seed + 1000)};
}

// One for each random profile that the structured method answers.
std::vector<Comparison> CompareAll() {
  std::vector<Comparison> all;
  for (const bool steady : {false, true}) {
    for (uint64_t seed = 0; seed < Seeds(); ++seed) {
      if (auto compared = Compare(seed, steady)) all.push_back(*compared);
    }
  }
  return all;
}

class AgreementTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    comparisons_ = new std::vector<Comparison>(CompareAll());
  }
  static void TearDownTestSuite() {
    delete comparisons_;
    comparisons_ = nullptr;
  }
  static const std::vector<Comparison>& comparisons() { return *comparisons_; }

 private:
  static std::vector<Comparison>* comparisons_;
};

std::vector<Comparison>* AgreementTest::comparisons_ = nullptr;

TEST_F(AgreementTest, MostSteadyProfilesAreAnsweredByStructure) {
  const auto answered =
      std::count_if(comparisons().begin(), comparisons().end(),
                    [](const Comparison& c) { return c.steady; });
  EXPECT_GE(static_cast<double>(answered),
            kLeastAnswered * static_cast<double>(Seeds()));
}

// The seeds are fixed, so a failure is a change, not chance.
TEST_F(AgreementTest, QuantilesAgree) {
  for (const Comparison& c : comparisons()) {
    for (size_t i = kFirstLevel; i < kQuantileLevels.size(); ++i) {
      const double allowed =
          std::max(0.075 * c.spread(),
                   3 * c.reference.standard_error_seconds[i]) +
          3 * c.structured.standard_error_seconds[i];
      EXPECT_LE(std::abs(c.off(i)), allowed + 1e-9 * c.reference.mean_seconds)
          << (c.steady ? "steady " : "") << "seed " << c.seed << " p"
          << 100 * kQuantileLevels[i] << ": " << c.off(i) / c.spread()
          << " of the spread";
    }
  }
}

TEST_F(AgreementTest, MeansAndDeviationsAgree) {
  for (const Comparison& c : comparisons()) {
    const double sd = c.reference.standard_deviation_seconds;
    EXPECT_NEAR(c.structured.mean_seconds, c.reference.mean_seconds,
                0.05 * sd + 3 * c.structured.standard_error_seconds[3] +
                    1e-9 * c.reference.mean_seconds)
        << (c.steady ? "steady " : "") << "seed " << c.seed;
    EXPECT_NEAR(c.structured.standard_deviation_seconds, sd,
                0.08 * sd + 1e-9 * c.reference.mean_seconds)
        << (c.steady ? "steady " : "") << "seed " << c.seed;
  }
}

TEST_F(AgreementTest, TwoStatedErrorsCoverNineTenthsOfTheTrueOnes) {
  int covered = 0, all = 0;
  for (const Comparison& c : comparisons()) {
    for (size_t i = kFirstLevel; i < kQuantileLevels.size(); ++i) {
      const double error = std::hypot(c.structured.standard_error_seconds[i],
                                      c.reference.standard_error_seconds[i]);
      ++all;
      if (std::abs(c.off(i)) <= 2 * error + 1e-9 * c.reference.mean_seconds) {
        ++covered;
      }
    }
  }
  RecordProperty("covered", covered);
  RecordProperty("all", all);
  EXPECT_GE(covered, 0.9 * all) << covered << " of " << all;
}

}  // namespace
}  // namespace prism::step
