#include "core/step/sample_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/step/random_profile.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using ::testing::ElementsAre;

// Writes down what happens to lane 0 of element 0.
class Diary final : public StepObserver {
 public:
  void BlockBegins(const Elements& elements) override {
    replicas = elements.count;
  }
  void OperationBegins(const PlannedOperation& planned, const double* free,
                       const double* arrival) override {
    begin_ = arrival == nullptr ? *free : std::max(*free, *arrival);
    waits += arrival != nullptr;
    stages.push_back(planned.stage);
  }
  void OperationEnds(const PlannedOperation&, const double* end,
                     const double* arrival) override {
    EXPECT_GE(*end, begin_);
    sends += arrival != nullptr;
    if (arrival != nullptr) {
      EXPECT_GE(*arrival, *end);
    }
  }
  void ClosingBegins(int, const double* begin) override { begin_ = *begin; }
  void ClosingEnds(int, const double* end) override {
    EXPECT_GE(*end, begin_);
    closed.push_back(*end);
  }
  void TaskEnds(const Task&, const double* ready, const double* end) override {
    EXPECT_GE(*ready, begin_);
    EXPECT_GE(*end, *ready);
    ++tasks;
  }

  size_t replicas = 0;
  int waits = 0, sends = 0, tasks = 0;
  std::vector<int> stages;
  std::vector<double> closed;

 private:
  double begin_ = 0;
};

CompiledGraph Compiled(const StepGraph& graph) {
  auto compiled = Compile(graph);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return *std::move(compiled);
}

// Two stages of 1 s forward and 2 s backward, two micro-batches: 9 s.
StepProfile TwoStages() {
  return ConstantProfile(ScheduleKind::kOneForwardOneBackward, 2, 1, 2, 1000,
                         2000);
}

TEST(SampleWorkerTest, AnObserverSeesTheWholeStep) {
  const StepGraph graph = BuildGraph(TwoStages());
  const CompiledGraph compiled = Compiled(graph);
  SampleWorker worker(compiled, 1);
  Diary diary;
  worker.Observe(&diary);
  double seconds = 0;
  ASSERT_TRUE(worker.Run(0, 1, base::UnlimitedBudget(), &seconds));
  EXPECT_DOUBLE_EQ(seconds, 9);
  EXPECT_EQ(diary.replicas, 1u);
  EXPECT_EQ(diary.stages.size(), 8u);
  EXPECT_EQ(diary.waits, 4);  // two forwards and two backwards cross over
  EXPECT_EQ(diary.sends, 4);
  // Compute and collective of each operation; reduction and optimizer.
  EXPECT_EQ(diary.tasks, 8 * 2 + 2 * 2);
  EXPECT_THAT(diary.closed, ElementsAre(9, 7));
}

TEST(SampleWorkerTest, ObservingChangesNoNumber) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const StepGraph graph = BuildGraph(RandomProfile(seed));
    const CompiledGraph compiled = Compiled(graph);
    SampleWorker plain(compiled, seed), observed(compiled, seed);
    Diary diary;
    observed.Observe(&diary);
    double expected = 0, seconds = 0;
    ASSERT_TRUE(plain.Run(5, 1, base::UnlimitedBudget(), &expected));
    ASSERT_TRUE(observed.Run(5, 1, base::UnlimitedBudget(), &seconds));
    EXPECT_EQ(seconds, expected) << seed;
    EXPECT_GT(diary.tasks, 0) << seed;
  }
}

TEST(SampleWorkerTest, TheLastRankIsTheSlowestOne) {
  StepProfile profile = TwoStages();
  profile.data = 3;
  profile.tensor = 2;
  profile.slowdown = {{5, 1.5}};  // replica 1, stage 0, lane 1
  const StepGraph graph = BuildGraph(profile);
  const CompiledGraph compiled = Compiled(graph);
  SampleWorker worker(compiled, 1, DrawMode::kNominal);
  double seconds = 0;
  ASSERT_TRUE(worker.Run(0, 1, base::UnlimitedBudget(), &seconds));
  // The closing waits for all replicas: the first of those that end together.
  EXPECT_EQ(worker.LastRank(), 1);
}

TEST(SampleWorkerTest, ABudgetThatEndsStopsIt) {
  StepProfile profile = TwoStages();
  profile.microbatches = 100'000;
  const StepGraph graph = BuildGraph(profile);
  const CompiledGraph compiled = Compiled(graph);
  SampleWorker worker(compiled, 1);
  const ScriptedBudget budget({.looks_until_cancelled = 0});
  double seconds = 0;
  EXPECT_FALSE(worker.Run(0, 1, budget, &seconds));
}

// Scatters of the fast replica queue up, those of the slow one do not: what is
// to come for the one is remembered apart from what comes for the other.
TEST(SampleWorkerTest, StopsWhereCommunicationUnderWayTakesTooMuchMemory) {
  StepProfile profile;
  profile.data = 2;
  profile.shard = 1;
  profile.microbatches = 20;
  profile.overlap_slowdown = 1.5;
  profile.slowdown = {{0, 10}};
  profile.forward = {
      ComputeSegment(stats::Distribution::MakeConstant(1), Sync::kNone, 1000)};
  profile.forward[0].scatter = stats::Distribution::MakeConstant(5);
  profile.backward = {ComputeSegment(stats::Distribution::MakeConstant(0))};
  const StepGraph graph = BuildGraph(profile);
  const CompiledGraph compiled = Compiled(graph);
  SampleWorker worker(compiled, 1);
  double seconds = 0;
  worker.LimitMemory(1 << 10);
  EXPECT_FALSE(worker.Run(0, 1, base::UnlimitedBudget(), &seconds));
  EXPECT_TRUE(worker.out_of_memory());
  worker.LimitMemory(1 << 30);
  EXPECT_TRUE(worker.Run(0, 1, base::UnlimitedBudget(), &seconds));
  EXPECT_FALSE(worker.out_of_memory());
}

}  // namespace
}  // namespace prism::step
