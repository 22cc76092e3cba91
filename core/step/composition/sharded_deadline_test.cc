// How the sharded method heeds its budget. Time is a script: it passes by being
// looked at, so that nothing depends on the machine's speed.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "core/step/composition/sharded.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;

constexpr size_t kMedian = 3;

ProfileSegment Segment(Sync sync, int64_t count) {
  return {Distribution::MakeLognormal(10, 0.1), Distribution::MakeGamma(2, 0.2),
          sync, count};
}

// Barriers, meetings and loads where asked for.
StepProfile Sharded(int replicas, int lanes, bool meets, bool loads) {
  StepProfile profile;
  profile.data = replicas;
  profile.tensor = lanes;
  profile.microbatches = 2;
  profile.forward = {Segment(Sync::kData, 4)};
  if (meets) profile.forward.push_back(Segment(Sync::kTensor, 3));
  profile.backward = {Segment(Sync::kData, 4)};
  if (loads) profile.microbatch_load = Distribution::MakeLognormal(1, 0.1);
  return profile;
}

StepProfile AllDifferent(StepProfile profile) {
  for (int64_t rank = 0; rank < profile.ranks(); ++rank) {
    profile.slowdown.push_back(
        {rank, 1 + 1e-5 * static_cast<double>(rank * 7919 % 4001)});
  }
  return profile;
}

absl::StatusOr<StepTime> Answer(const StepProfile& profile,
                                const base::Budget& budget,
                                std::optional<int64_t> samples = {}) {
  const StepGraph graph = BuildGraph(profile);
  const auto compiled = Compile(graph);
  base::InlineExecutor executor;
  auto time = SimulateSharded(*compiled, {.samples = samples, .random_key = 1},
                              budget, executor);
  EXPECT_TRUE(time.has_value());
  return time.has_value() ? *std::move(time) : absl::UnknownError("none");
}

int64_t LooksFor(const StepProfile& profile,
                 std::optional<int64_t> samples = {}) {
  const ScriptedBudget budget({});
  EXPECT_TRUE(Answer(profile, budget, samples).ok());
  return budget.looks();
}

struct Kind {
  std::string name;
  StepProfile profile;
};

class BudgetTest : public testing::TestWithParam<Kind> {};

// Wherever the cancellation falls, each batch looks once more and stops.
TEST_P(BudgetTest, CancelledCallsStopAtTheNextLook) {
  const StepProfile& profile = GetParam().profile;
  const int64_t all = LooksFor(profile);
  const int64_t stride = std::max<int64_t>(all / 40, 1);
  for (int64_t looks = 0; looks < all; looks += stride) {
    const ScriptedBudget budget({.looks_until_cancelled = looks});
    EXPECT_EQ(Answer(profile, budget).status().code(),
              absl::StatusCode::kCancelled)
        << looks << " of " << all;
    EXPECT_LE(budget.looks(), looks + 16) << looks << " of " << all;
  }
}

TEST_P(BudgetTest, PassedDeadlineGivesNoAnswer) {
  const ScriptedBudget budget({.deadline = absl::ZeroDuration()});
  EXPECT_EQ(Answer(GetParam().profile, budget).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

// From the first batch that is done there is an answer, and it says that it is
// less than was wanted; before there is none.
TEST_P(BudgetTest, DeadlinesGiveFewerSamples) {
  const StepProfile& profile = GetParam().profile;
  const auto full = Answer(profile, ScriptedBudget({}));
  ASSERT_TRUE(full.ok());
  const int64_t all = LooksFor(profile);
  int refused = 0, reduced = 0;
  for (int64_t looks = all / 8; looks < all; looks += all / 8) {
    const ScriptedBudget budget({.per_look = absl::Milliseconds(1),
                                 .deadline = absl::Milliseconds(looks)});
    const auto time = Answer(profile, budget);
    EXPECT_LE(budget.looks(), looks + 24);
    if (!time.ok()) {
      EXPECT_EQ(time.status().code(), absl::StatusCode::kDeadlineExceeded);
      EXPECT_EQ(reduced, 0) << "an earlier deadline was met";
      ++refused;
      continue;
    }
    EXPECT_EQ(time->quality, Quality::kReduced);
    EXPECT_GE(time->samples, 100);
    EXPECT_LT(time->samples, full->samples);
    ++reduced;
  }
  EXPECT_GT(reduced, 0);
}

TEST_P(BudgetTest, AmpleDeadlinesDoNotChangeTheBits) {
  const auto full = Answer(GetParam().profile, ScriptedBudget({}));
  const ScriptedBudget budget(
      {.per_look = absl::Nanoseconds(1), .deadline = absl::Hours(1)});
  const auto time = Answer(GetParam().profile, budget);
  ASSERT_TRUE(full.ok() && time.ok());
  EXPECT_EQ(time->quality, Quality::kExact);
  EXPECT_EQ(time->quantile_seconds, full->quantile_seconds);
  EXPECT_EQ(time->standard_error_seconds, full->standard_error_seconds);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, BudgetTest,
    testing::Values(
        Kind{"Alike", Sharded(64, 2, false, false)},
        Kind{"Loads", Sharded(64, 1, false, true)},
        Kind{"OneByOne", Sharded(16, 3, true, false)},
        Kind{"Entries", Sharded(512, 3, true, false)},
        Kind{"Different", AllDifferent(Sharded(256, 3, true, false))},
        Kind{"DifferentLoads", AllDifferent(Sharded(128, 2, false, true))}),
    [](const auto& instance) { return instance.param.name; });

// Work between two looks is bounded: where there is more of it there are more
// looks, one at least for so much of each kind.
TEST(BudgetLooksTest, GrowWithTheReplicasOfEntries) {
  const auto looks = [](int replicas) {
    return LooksFor(AllDifferent(Sharded(replicas, 3, true, false)));
  };
  EXPECT_GE(looks(4096) - looks(1024), (4096 - 1024) / 16);
}

TEST(BudgetLooksTest, GrowWithThePairsOfLanes) {
  const auto looks = [](int lanes) {
    return LooksFor(AllDifferent(Sharded(512, lanes, true, false)));
  };
  EXPECT_GE(looks(8) - looks(4), 8 * 8 - 4 * 4);
}

TEST(BudgetLooksTest, GrowWithTheTermsOfASum) {
  const auto looks = [](int terms) {
    StepProfile profile = Sharded(64, 1, false, false);
    for (int i = 0; i < terms; ++i) {
      // Far from normal, each its own.
      profile.forward.push_back(
          {Distribution::MakeShiftedExponential(1, 10 + i), Distribution(),
           Sync::kData, 1});
    }
    return LooksFor(profile);
  };
  EXPECT_GE(looks(40) - looks(20), 20);
}

TEST(BudgetLooksTest, GrowWithTheSamples) {
  const StepProfile profile = Sharded(64, 2, false, false);
  // Eight batches, rounds of 2,048 and a look a lane.
  EXPECT_GE(LooksFor(profile, 1 << 18) - LooksFor(profile, 1 << 17),
            (1 << 17) / 2048);
}

TEST(BudgetLooksTest, GrowWithTheMicrobatchesOfLoads) {
  const auto looks = [](int microbatches) {
    StepProfile profile = Sharded(64, 1, false, true);
    profile.microbatches = microbatches;
    return LooksFor(profile);
  };
  EXPECT_GE(looks(64) - looks(32), 32 * 8);
}

TEST(ShardedSamplesTest, AreAsManyAsAskedForAndLowerTheError) {
  const StepProfile profile = Sharded(8, 2, true, false);
  const auto few = Answer(profile, ScriptedBudget({}), 1000);
  const auto many = Answer(profile, ScriptedBudget({}), 64000);
  ASSERT_TRUE(few.ok() && many.ok());
  // Whole rows of 32 in each of eight batches.
  EXPECT_EQ(few->samples, 1024);
  EXPECT_EQ(many->samples, 64000);
  EXPECT_LT(many->standard_error_seconds[kMedian],
            0.5 * few->standard_error_seconds[kMedian]);
}

// Whatever the strata of a round: at every level.
TEST(ShardedSamplesTest, OfOneSumNeverRaiseTheError) {
  for (int replicas : {4, 64, 1000}) {
    const StepProfile profile = Sharded(replicas, 1, false, false);
    const auto few = Answer(profile, ScriptedBudget({}), 1024);
    const auto many = Answer(profile, ScriptedBudget({}), 64000);
    ASSERT_TRUE(few.ok() && many.ok());
    for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
      EXPECT_LE(many->standard_error_seconds[q], few->standard_error_seconds[q])
          << replicas << " replicas, level " << kQuantileLevels[q];
    }
  }
}

TEST(ShardedSamplesTest, AreNoMoreThanTheLawsAreWorth) {
  const auto time =
      Answer(Sharded(4, 1, false, false), ScriptedBudget({}), 10'000'000);
  ASSERT_TRUE(time.ok());
  EXPECT_EQ(time->samples, 1 << 19);
  EXPECT_EQ(time->quality, Quality::kExact);
}

}  // namespace
}  // namespace prism::step
