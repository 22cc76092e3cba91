// The structured method against the reference method, on random profiles.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/step/composition/structured.h"
#include "core/step/random_profile.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

constexpr int64_t kReferenceSamples = 20000;
// p05 to p99: the quantiles that an answer is judged by.
constexpr size_t kFirstLevel = 1;
constexpr uint64_t kSeeds = 240;
constexpr int kLeastAnswered = 40;

struct Comparison {
  uint64_t seed = 0;
  StepTime structured, reference;

  double spread() const {
    return reference.quantile_seconds[4] - reference.quantile_seconds[2];
  }
  double off(size_t level) const {
    return structured.quantile_seconds[level] -
           reference.quantile_seconds[level];
  }
};

// One for each random profile that the structured method answers.
std::vector<Comparison> CompareAll() {
  std::vector<Comparison> all;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const StepGraph graph = BuildGraph(RandomProfile(seed));
    const auto compiled = Compile(graph);
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    if (!compiled.ok()) continue;
    base::InlineExecutor executor;
    const auto time =
        SimulateStructured(*compiled, {.samples = {}, .random_key = seed},
                           base::UnlimitedBudget(), executor);
    if (!time.has_value()) continue;
    EXPECT_TRUE(time->ok()) << time->status();
    if (!time->ok()) continue;
    // Independent draws.
    all.push_back(
        {seed, **time, SimulateSamples(graph, kReferenceSamples, seed + 1000)});
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

TEST_F(AgreementTest, MostProfilesAreAnsweredByStructure) {
  EXPECT_GE(comparisons().size(), kLeastAnswered);
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
          << "seed " << c.seed << " p" << 100 * kQuantileLevels[i] << ": "
          << c.off(i) / c.spread() << " of the spread";
    }
  }
}

TEST_F(AgreementTest, MeansAndDeviationsAgree) {
  for (const Comparison& c : comparisons()) {
    const double sd = c.reference.standard_deviation_seconds;
    EXPECT_NEAR(c.structured.mean_seconds, c.reference.mean_seconds,
                0.05 * sd + 3 * c.structured.standard_error_seconds[3] +
                    1e-9 * c.reference.mean_seconds)
        << "seed " << c.seed;
    EXPECT_NEAR(c.structured.standard_deviation_seconds, sd,
                0.08 * sd + 1e-9 * c.reference.mean_seconds)
        << "seed " << c.seed;
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
