#include "core/step/schedules/round_robin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/step/execution_plan.h"
#include "core/step/schedules/continuous_support.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

ContinuousRun MeasuredRun(int workers, int chunks, int microbatches) {
  return RoundRobinRun(workers, chunks, microbatches,
                       WarmUpSteps(workers, microbatches) + 1);
}

StepGraph ConstantGraph(const ContinuousRun& run, double seconds, double hop,
                        double update) {
  RunLaws laws = ConstantLaws(run, seconds, 0, hop, update);
  laws.backward.clear();
  return GraphOf(run, laws);
}

TEST(RoundRobinTest, RandomRunsAreValid) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 10'000; ++i) {
    const int p = 1 + random() % 8, v = 1 + random() % 3, m = 1 + random() % 16;
    const StepGraph graph = ConstantGraph(MeasuredRun(p, v, m), 1, 0, 0);
    ASSERT_TRUE(graph.Validate().ok())
        << graph.Validate() << " p " << p << " v " << v << " m " << m;
    ASSERT_TRUE(PlanExecution(graph).ok())
        << "p " << p << " v " << v << " m " << m;
  }
}

// Forwards of stages 0 to V - 1, then backwards from the last (RoundPipe,
// docs/UserGuide/overview.en.md, "Dispatch Pipeline Parallelism").
TEST(RoundRobinTest, ExecutionsGoThroughTheModelAndBack) {
  std::vector<int> stages;
  for (int k = 0; k < 8; ++k) {
    const Execution execution = ExecutionAt(k, 4);
    EXPECT_EQ(execution.forward, k < 4);
    stages.push_back(execution.model_stage);
  }
  EXPECT_EQ(stages, (std::vector<int>{0, 1, 2, 3, 3, 2, 1, 0}));
}

// A worker takes a stage with all its micro-batches and is never needed by two
// (same place: "a GPU holds data for only the single stage currently
// executing").
TEST(RoundRobinTest, AWorkerRunsOneExecutionAfterTheOther) {
  const int p = 3, v = 2, m = 4, steps = 3;
  const ContinuousRun run = RoundRobinRun(p, v, m, steps);
  for (int worker = 0; worker < p; ++worker) {
    const auto& order = run.order[worker];
    ASSERT_EQ(order.size(), size_t{2 * v * m * steps});
    for (size_t i = 0; i < order.size(); ++i) {
      const int turn = static_cast<int>(i) / m;
      EXPECT_EQ(order[i].virtual_stage, turn % (2 * v) * p + worker);
      EXPECT_EQ(order[i].microbatch,
                turn / (2 * v) * m + static_cast<int>(i) % m);
    }
  }
}

// Near zero bubble (arXiv 2604.27085, abstract): none where m >= p.
TEST(RoundRobinTest, WorkersDoNotWaitForEachOther) {
  for (int p : {1, 2, 3, 8}) {
    for (int v : {1, 3}) {
      for (int m : {1, 2, 8, 13}) {
        const int stages = p * v;
        const double executions = m >= p ? 2 * v * m : 2 * stages - p + m;
        EXPECT_NEAR(
            ConstantSeconds(ConstantGraph(MeasuredRun(p, v, m), 0.5, 0, 0.7)),
            0.5 * executions + 0.7, 1e-9)
            << "p " << p << " v " << v << " m " << m;
      }
    }
  }
}

// Uploads run beside the execution before (RoundPipe prefetches one stage's
// parameters: docs/UserGuide/AdvancedUsage/execute_plan.en.md), so they cost
// nothing until they are longer.
TEST(RoundRobinTest, UploadsHideBehindExecutions) {
  const int p = 3, v = 2, m = 4;
  const ContinuousRun run = MeasuredRun(p, v, m);
  for (double upload : {0.0, 1.0, 2.0, 2.5, 7.0}) {
    RunLaws laws = ConstantLaws(run, 0.5, 0, 0, 0.7);
    laws.backward.clear();
    laws.upload = stats::Distribution::MakeConstant(upload);
    EXPECT_NEAR(ConstantSeconds(GraphOf(run, laws)),
                2 * v * std::max(0.5 * m, upload) + 0.7, 1e-9)
        << "upload " << upload;
  }
}

// A long stage is on another worker every time, so workers share what it is
// longer by (the weight binding that arXiv 2604.27085, section 1, removes):
// a step is no longer than if one worker had all of it, and with many
// micro-batches each waits for it once a turn.
TEST(RoundRobinTest, ALongStageCostsItsWorkersLessThanABoundOne) {
  const int p = 4, m = 16;
  const ContinuousRun bound = OneForwardOneBackwardRun(p, m, 4);
  RunLaws bound_laws = ConstantLaws(bound, 1, 1);
  bound_laws.forward[0] = stats::Distribution::MakeConstant(2);
  bound_laws.backward[0] = stats::Distribution::MakeConstant(2);
  const ContinuousRun run = MeasuredRun(p, 1, m);
  RunLaws laws = ConstantLaws(run, 1, 0);
  laws.backward.clear();
  laws.forward[0] = stats::Distribution::MakeConstant(2);
  laws.forward[2 * p - 1] = stats::Distribution::MakeConstant(2);
  EXPECT_LT(ConstantSeconds(GraphOf(run, laws)),
            ConstantSeconds(GraphOf(bound, bound_laws)));
}

}  // namespace
}  // namespace prism::step
