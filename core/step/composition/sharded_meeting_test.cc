#include "core/step/composition/sharded_meeting.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "core/step/step_profile.h"

namespace prism::step {
namespace {

using stats::Distribution;

constexpr int kLanes = 3;
constexpr int kRows = 8192;

// One meeting between two lane works, then a barrier.
StepProfile Profile(int replicas) {
  StepProfile profile;
  profile.data = replicas;
  profile.tensor = kLanes;
  profile.forward = {
      {Distribution::MakeNormal(10, 0.5), Distribution(), Sync::kTensor, 1}};
  profile.backward = {
      {Distribution::MakeNormal(20, 1), Distribution(), Sync::kData, 1}};
  return profile;
}

struct Moments {
  double mean = 0, deviation = 0;
};

Moments MomentsOf(const MeetingRows& rows, size_t entry) {
  const double* seconds = rows.From(0, entry, 0);
  double sum = 0, square = 0;
  for (int i = 0; i < kRows; ++i) {
    sum += seconds[i];
    square += seconds[i] * seconds[i];
  }
  const double mean = sum / kRows;
  return {mean, std::sqrt(square / kRows - mean * mean)};
}

class MeetingRowsTest : public testing::Test {
 protected:
  void Draw(int replicas, double latest_weight = 0) {
    graph_ = BuildGraph(Profile(replicas));
    compiled_ = *Compile(graph_);
    model_ = *BuildShardedModel(compiled_, base::UnlimitedBudget());
    for (const ShardedItem& item : model_.items) {
      if (!item.meets) continue;
      one_by_one_ = item.work != nullptr;
      ASSERT_TRUE(rows_.Draw(model_, item, kRows, 5, latest_weight,
                             base::UnlimitedBudget()));
    }
  }

  StepGraph graph_;
  CompiledGraph compiled_;
  ShardedModel model_;
  MeetingRows rows_;
  bool one_by_one_ = false;
};

// Of one replica an entry is the sum of two works: a normal.
TEST_F(MeetingRowsTest, OneReplicaAddsItsWork) {
  Draw(1);
  for (size_t entry = 0; entry < kLanes * kLanes; ++entry) {
    const Moments moments = MomentsOf(rows_, entry);
    const double deviation = std::hypot(0.5e-3, 1e-3);
    EXPECT_NEAR(moments.mean, 30e-3, 5 * deviation / std::sqrt(kRows));
    EXPECT_NEAR(moments.deviation, deviation, 0.03 * deviation);
  }
}

// Few replicas are drawn one by one, many by the laws of entries: both have the
// mean of the maximum of that many normals.
TEST_F(MeetingRowsTest, EntriesAreMaximaOverReplicas) {
  for (const auto& [replicas, score] :
       {std::pair(4, 1.02938), std::pair(1000, 3.24144)}) {
    Draw(replicas);
    EXPECT_EQ(one_by_one_, replicas == 4);
    const double deviation = std::hypot(0.5e-3, 1e-3);
    for (size_t entry = 0; entry < kLanes * kLanes; ++entry) {
      EXPECT_NEAR(MomentsOf(rows_, entry).mean, 30e-3 + score * deviation,
                  0.02 * deviation)
          << replicas;
    }
  }
}

TEST_F(MeetingRowsTest, TheFirstRowFollowsTheLast) {
  Draw(4);
  const double* all = rows_.From(0, 2, 0);
  const double* from = rows_.From(0, 2, kRows - 5);
  for (int i = 0; i < kRows; ++i) {
    EXPECT_EQ(from[i], all[(kRows - 5 + i) % kRows]) << i;
  }
}

}  // namespace
}  // namespace prism::step
