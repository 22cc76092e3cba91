// The sharded method against long runs of the reference method, on random
// profiles; tests/data/sharded/SOURCE.md says how those were made.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/step/composition/sharded.h"
#include "core/step/composition/sharded_profiles.h"

namespace prism::step {
namespace {

// p05 to p99: the quantiles that an answer is judged by.
constexpr size_t kFirstLevel = 1;
constexpr size_t kLevels = kQuantileLevels.size();
constexpr size_t kLowerQuartile = 2, kUpperQuartile = 4;

struct Reference {
  uint64_t seed = 0;
  double nominal = 0;
  std::array<double, kLevels> quantile = {}, error = {};

  double spread() const {
    return quantile[kUpperQuartile] - quantile[kLowerQuartile];
  }
};

std::vector<Reference> ReadReferences() {
  std::ifstream file(PRISM_SOURCE_DIR "/tests/data/sharded/references.csv");
  std::vector<Reference> all;
  std::string line;
  std::getline(file, line);  // the head
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    Reference reference;
    double samples = 0;
    fields >> reference.seed >> reference.nominal >> samples;
    for (double& quantile : reference.quantile) fields >> quantile;
    for (double& error : reference.error) fields >> error;
    if (fields) all.push_back(reference);
  }
  return all;
}

struct Comparison {
  Reference reference;
  StepTime time;

  double off(size_t level) const {
    return std::abs(time.quantile_seconds[level] - reference.quantile[level]);
  }
  // What rounding in the file may be.
  double rounding() const { return 2e-8 * reference.nominal; }
};

class ShardedCoverageTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    references_ = new std::vector<Reference>(ReadReferences());
    comparisons_ = new std::vector<Comparison>;
    for (const Reference& reference : *references_) {
      const StepGraph graph = BuildGraph(RandomShardedProfile(reference.seed));
      const auto compiled = Compile(graph);
      if (!compiled.ok()) continue;
      base::InlineExecutor executor;
      const auto time =
          SimulateSharded(*compiled, {.samples = {}, .random_key = 1},
                          base::UnlimitedBudget(), executor);
      if (time.has_value() && time->ok()) {
        comparisons_->push_back({reference, **time});
      }
    }
  }
  static void TearDownTestSuite() {
    delete references_;
    delete comparisons_;
  }

  static const std::vector<Reference>* references_;
  static std::vector<Comparison>* comparisons_;
};

const std::vector<Reference>* ShardedCoverageTest::references_ = nullptr;
std::vector<Comparison>* ShardedCoverageTest::comparisons_ = nullptr;

TEST_F(ShardedCoverageTest, ReferencesAreOfTheseProfiles) {
  ASSERT_GE(references_->size(), 200u);
  for (const Reference& reference : *references_) {
    const auto nominal =
        SimulateNominal(BuildGraph(RandomShardedProfile(reference.seed)));
    ASSERT_TRUE(nominal.ok());
    EXPECT_NEAR(nominal->seconds, reference.nominal, 1e-9 * reference.nominal)
        << "seed " << reference.seed;
  }
}

TEST_F(ShardedCoverageTest, MostProfilesAreAnswered) {
  RecordProperty("answered", static_cast<int>(comparisons_->size()));
  EXPECT_GE(comparisons_->size(), 7 * references_->size() / 10);
}

// The stated errors are two deviations and more; so much of the reference's
// noise counts beside them.
TEST_F(ShardedCoverageTest, StatedErrorsCoverNineTenthsOfTheTrueOnes) {
  int covered = 0, strictly = 0, all = 0;
  for (const Comparison& c : *comparisons_) {
    for (size_t i = kFirstLevel; i < kLevels; ++i) {
      const double stated = c.time.standard_error_seconds[i] + c.rounding();
      ++all;
      if (c.off(i) <= stated) ++strictly;
      if (c.off(i) <= std::hypot(stated, 2 * c.reference.error[i])) ++covered;
    }
  }
  RecordProperty("covered", covered);
  RecordProperty("covered_without_noise", strictly);
  RecordProperty("all", all);
  EXPECT_GE(covered, 0.92 * all) << covered << " of " << all;
  EXPECT_GE(strictly, 0.88 * all) << strictly << " of " << all;
}

// Errors that cover everything by being wide say nothing.
TEST_F(ShardedCoverageTest, StatedErrorsAreNotWide) {
  std::vector<double> shares;
  for (const Comparison& c : *comparisons_) {
    if (c.reference.spread() <= 0) continue;
    shares.push_back(c.time.standard_error_seconds[3] / c.reference.spread());
  }
  std::nth_element(shares.begin(), shares.begin() + shares.size() / 2,
                   shares.end());
  EXPECT_LT(shares[shares.size() / 2], 0.03);
}

TEST_F(ShardedCoverageTest, QuantilesAreWithinWhatIsAllowed) {
  int within = 0, all = 0;
  for (const Comparison& c : *comparisons_) {
    for (size_t i = kFirstLevel; i < kLevels; ++i) {
      const double allowed =
          std::max(0.075 * c.reference.spread(), 3 * c.reference.error[i]) +
          c.rounding();
      ++all;
      if (c.off(i) <= allowed) ++within;
      // Beyond that an answer must say how unsure it is.
      EXPECT_LE(c.off(i), allowed + 2 * c.time.standard_error_seconds[i])
          << "seed " << c.reference.seed << " p" << 100 * kQuantileLevels[i];
    }
  }
  RecordProperty("within", within);
  EXPECT_GE(within, 0.98 * all) << within << " of " << all;
}

}  // namespace
}  // namespace prism::step
