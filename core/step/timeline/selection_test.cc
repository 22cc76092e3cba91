#include "core/step/timeline/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/step/test_support.h"

namespace prism::step {
namespace {

using ::testing::ElementsAre;

// Two replicas of two stages of two lanes, four micro-batches: a rank has 8
// operations of 2 tasks and a closing of 2.
class SelectRanksTest : public testing::Test {
 protected:
  static constexpr int64_t kOperations = 9;
  static constexpr int64_t kTasks = 18;

  SelectRanksTest() {
    StepProfile profile = ConstantProfile(ScheduleKind::kOneForwardOneBackward,
                                          2, 1, 4, 1000, 2000);
    profile.data = 2;
    profile.tensor = 2;
    graph_ = BuildGraph(profile);
    auto compiled = Compile(graph_);
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    compiled_ = *std::move(compiled);
  }

  Selection Select(const std::vector<int64_t>& asked, bool tasks,
                   int64_t most_events) {
    return SelectRanks(compiled_, 5, asked, tasks, most_events);
  }

  static std::vector<int64_t> RanksOf(const Selection& selection) {
    std::vector<int64_t> ranks;
    for (const SelectedRank& rank : selection.ranks) ranks.push_back(rank.rank);
    return ranks;
  }

  StepGraph graph_;
  CompiledGraph compiled_;
};

TEST_F(SelectRanksTest, OneLaneOfEveryStageOfTheLastReplica) {
  const Selection selection = Select({}, false, 1000);
  // Rank 5 is lane 1 of stage 0 in replica 1; rank 7 its stage 1.
  EXPECT_THAT(RanksOf(selection), ElementsAre(5, 7));
  EXPECT_EQ(selection.ranks_left_out, 0);
  EXPECT_FALSE(selection.ranks[0].tasks);
}

TEST_F(SelectRanksTest, RanksThatAreAskedForComeToo) {
  EXPECT_THAT(RanksOf(Select({6, 0, 7, 0}, false, 1000)),
              ElementsAre(0, 5, 6, 7));
}

TEST_F(SelectRanksTest, AboveTheLimitTheAskedOnesStay) {
  const Selection selection = Select({6}, false, 2 * kOperations);
  EXPECT_THAT(RanksOf(selection), ElementsAre(5, 6));
  EXPECT_EQ(selection.ranks_left_out, 1);
}

TEST_F(SelectRanksTest, TheFirstRankIsThereInPart) {
  const Selection selection = Select({}, true, 4);
  EXPECT_THAT(RanksOf(selection), ElementsAre(5));
  EXPECT_EQ(selection.ranks[0].most_operations, 4);
  EXPECT_EQ(selection.operations_left_out, kOperations - 4);
  EXPECT_EQ(selection.ranks_left_out, 1);
  EXPECT_EQ(selection.ranks_without_tasks, 1);
}

TEST_F(SelectRanksTest, TasksFindRoomBesideTheOperations) {
  const Selection all = Select({}, true, 2 * (kOperations + kTasks));
  EXPECT_TRUE(all.ranks[0].tasks && all.ranks[1].tasks);
  EXPECT_EQ(all.ranks_without_tasks, 0);

  const Selection some = Select({}, true, 2 * (kOperations + kTasks) - 1);
  EXPECT_TRUE(some.ranks[0].tasks);
  EXPECT_FALSE(some.ranks[1].tasks);
  EXPECT_EQ(some.ranks_without_tasks, 1);
}

}  // namespace
}  // namespace prism::step
