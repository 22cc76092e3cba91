#include "core/step/composition/sharded_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "core/step/step_profile.h"

namespace prism::step {
namespace {

using stats::Distribution;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ProfileSegment Random(double mean, Sync sync, int64_t count = 1) {
  return {Distribution::MakeLognormal(mean, 0.1),
          Distribution::MakeGamma(0.2 * mean, 0.1), sync, count};
}

StepProfile TwoByTwo() {
  StepProfile profile;
  profile.data = 4;
  profile.tensor = 2;
  profile.microbatches = 1;
  profile.forward = {Random(1, Sync::kData, 10)};
  profile.backward = {Random(2, Sync::kData, 10)};
  return profile;
}

std::optional<ShardedProgram> Cut(const StepProfile& profile,
                                  int most_meetings = 100) {
  const StepGraph graph = BuildGraph(profile);
  const auto compiled = Compile(graph);
  EXPECT_TRUE(compiled.ok());
  return CutAtBarriers(*compiled, most_meetings, base::UnlimitedBudget());
}

TEST(CutAtBarriersTest, RepeatedBarriersAreOneRun) {
  StepProfile profile = TwoByTwo();
  profile.optimizer = Distribution::MakeConstant(3);
  const auto program = Cut(profile);
  ASSERT_TRUE(program.has_value());
  // First pass, the nine others; both phases; closing collective; optimizer.
  double barriers = 0;
  for (const StretchRun& run : program->runs) barriers += run.count;
  EXPECT_EQ(barriers, 22);
  EXPECT_THAT(program->runs, SizeIs(6));
  EXPECT_EQ(program->stretches.back().collective, kAbsent);
}

TEST(CutAtBarriersTest, EqualStretchesAreTheSame) {
  StepProfile profile = TwoByTwo();
  profile.microbatches = 5;
  const auto program = Cut(profile);
  ASSERT_TRUE(program.has_value());
  // Forward, backward, the empty ones of the closing.
  EXPECT_THAT(program->stretches, SizeIs(4));
}

TEST(CutAtBarriersTest, WorkBeforeAMeetingIsApartFromWorkAfterIt) {
  StepProfile profile = TwoByTwo();
  profile.forward = {Random(1, Sync::kTensor, 4), Random(3, Sync::kData)};
  const auto program = Cut(profile);
  ASSERT_TRUE(program.has_value());
  const Stretch& stretch = program->stretches[0];
  ASSERT_THAT(stretch.meetings, SizeIs(2));
  EXPECT_EQ(stretch.meetings[0].count, 1);
  EXPECT_EQ(stretch.meetings[1].count, 3);
  EXPECT_THAT(stretch.work, SizeIs(1));
}

TEST(CutAtBarriersTest, MeetingsOfOneLaneAreOwnDraws) {
  StepProfile profile = TwoByTwo();
  profile.tensor = 1;
  profile.forward = {Random(1, Sync::kTensor, 4), Random(3, Sync::kData)};
  const auto program = Cut(profile);
  ASSERT_TRUE(program.has_value());
  EXPECT_THAT(program->stretches[0].meetings, IsEmpty());
  // Four computes and their collectives, and the last compute.
  EXPECT_THAT(program->stretches[0].work, SizeIs(3));
}

TEST(CutAtBarriersTest, RunsBearTheLoadOfTheirMicrobatch) {
  StepProfile profile = TwoByTwo();
  profile.microbatches = 2;
  profile.forward = {Random(1, Sync::kData)};
  profile.backward = {Random(2, Sync::kData)};
  profile.microbatch_load = Distribution::MakeLognormal(1, 0.1);
  const auto program = Cut(profile);
  ASSERT_TRUE(program.has_value());
  std::vector<int> loads;
  for (const StretchRun& run : program->runs) loads.push_back(run.microbatch);
  EXPECT_THAT(loads, ElementsAre(0, 0, 1, 1, kAbsent, kAbsent));
}

TEST(CutAtBarriersTest, GivesUpWhereOneBarrierWaitsForTwoLoads) {
  StepProfile profile = TwoByTwo();
  profile.microbatches = 2;
  profile.backward = {Random(2, Sync::kData), Random(2, Sync::kNone)};
  EXPECT_TRUE(Cut(profile).has_value());
  profile.microbatch_load = Distribution::MakeLognormal(1, 0.1);
  EXPECT_FALSE(Cut(profile).has_value());
}

TEST(CutAtBarriersTest, GivesUpBeyondTheMostMeetings) {
  StepProfile profile = TwoByTwo();
  profile.microbatches = 8;
  profile.forward = {Random(1, Sync::kTensor), Random(1, Sync::kData)};
  EXPECT_TRUE(Cut(profile, 8).has_value());
  EXPECT_FALSE(Cut(profile, 7).has_value());
}

}  // namespace
}  // namespace prism::step
