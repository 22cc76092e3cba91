#include "core/placement/evaluator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/placement/race.h"
#include "core/placement/test_support.h"
#include "core/step/simulate.h"

namespace prism::placement {
namespace {

constexpr int kDrawRows = 2;

struct Case {
  JobSize size;
  int64_t gpus_per_node;
  double spread;
};

// Differences between placements against differences of full simulations under
// common draws. kModelError is their standard error; three of them and the
// simulations' own errors are allowed.
TEST(EvaluatorTest, DifferencesAgreeWithSimulations) {
  const Case cases[] = {
      {{.tensor = 4, .pipeline = 4, .data = 8, .microbatches = 16}, 4, 0.02},
      {{.tensor = 4, .pipeline = 4, .data = 8, .microbatches = 8}, 4, 0.1},
      {{.tensor = 8, .pipeline = 2, .data = 8, .microbatches = 8}, 4, 0.02},
      {{.tensor = 4, .pipeline = 1, .data = 16, .microbatches = 4}, 4, 0.02},
      {{.tensor = 2, .pipeline = 4, .data = 4, .microbatches = 8}, 4, 0.05},
      {{.tensor = 4,
        .pipeline = 4,
        .data = 4,
        .microbatches = 8,
        .virtual_stages = 2},
       4,
       0.03},
  };
  base::InlineExecutor executor;
  double squares = 0;
  int count = 0;
  for (const Case& c : cases) {
    const workload::Job job = TestJob(c.size);
    const int nodes =
        static_cast<int>(job.parallelism.gpus() / c.gpus_per_node);
    hardware::Cluster cluster = TestCluster(2 * nodes, c.gpus_per_node, 8);
    SetSpeeds(c.spread, 11, cluster);
    const auto model = TestModel(job, cluster);
    std::mt19937_64 random(12);
    std::vector<NodeList> placements;
    for (int i = 0; i < 4; ++i) {
      placements.push_back(RandomNodes(cluster, nodes, random));
    }
    Evaluator evaluator(*model, kDrawRows);
    const auto evaluated = evaluator.Evaluate(placements, model->measured(),
                                              base::UnlimitedBudget());
    ASSERT_TRUE(evaluated.ok());
    std::vector<double> offset;
    double mean_offset = 0, step = 0;
    for (size_t i = 0; i < placements.size(); ++i) {
      const auto graph = model->Graph(placements[i]);
      ASSERT_TRUE(graph.ok());
      step::SimulationOptions options;
      options.random_key = 7;
      const auto simulated =
          step::Simulate(*graph, options, base::UnlimitedBudget(), executor);
      ASSERT_TRUE(simulated.ok());
      step = simulated->mean_seconds;
      offset.push_back(step - (*evaluated)[i].step.mean);
      mean_offset += offset.back() / placements.size();
    }
    for (const double one : offset) {
      const double error = (one - mean_offset) / step;
      EXPECT_LT(std::abs(error), 3 * kModelError) << c.spread;
      squares += error * error;
      ++count;
    }
  }
  // The stated error is not far from what is seen.
  const double seen = std::sqrt(squares / count);
  EXPECT_LT(seen, kModelError);
  RecordProperty("seen", std::to_string(seen));
}

TEST(EvaluatorTest, ExchangingReplicasChangesNothing) {
  hardware::Cluster cluster = FlatCluster(4, 4);
  SetSpeeds(0.05, 2, cluster);
  const auto model =
      TestModel(TestJob({.tensor = 4, .pipeline = 2, .data = 2}), cluster);
  Evaluator evaluator(*model, kDrawRows);
  // Tensor, data, pipeline: replica 0 has positions 0 and 2.
  const std::vector<NodeList> placements = {{0, 1, 2, 3}, {1, 0, 3, 2}};
  const auto evaluated = evaluator.Evaluate(placements, model->measured(),
                                            base::UnlimitedBudget());
  ASSERT_TRUE(evaluated.ok());
  EXPECT_EQ((*evaluated)[0].step.mean, (*evaluated)[1].step.mean);
}

TEST(EvaluatorTest, SlowerNodesNeverHelp) {
  hardware::Cluster cluster = TestCluster(8, 4, 4);
  SetSpeeds(0.05, 2, cluster);
  const auto model =
      TestModel(TestJob({.tensor = 4, .pipeline = 2, .data = 4}), cluster);
  Evaluator evaluator(*model, kDrawRows);
  const std::vector<NodeList> one = {{0, 1, 2, 3, 4, 5, 6, 7}};
  std::vector<double> measured = model->measured();
  double before = 0;
  for (int i = 0; i < 8; ++i) {
    const auto evaluated =
        evaluator.Evaluate(one, measured, base::UnlimitedBudget());
    ASSERT_TRUE(evaluated.ok());
    // What is left of the draws' noise may be felt where nothing changes.
    EXPECT_GE((*evaluated)[0].step.mean, before * (1 - 1e-5)) << i;
    before = (*evaluated)[0].step.mean;
    measured[i] *= 1.03;
  }
}

TEST(EvaluatorTest, EndsWithTheBudget) {
  const hardware::Cluster cluster = FlatCluster(4, 4);
  const auto model = TestModel(TestJob({.tensor = 4, .data = 4}), cluster);
  const std::vector<NodeList> one = {{0, 1, 2, 3}};
  using End = CountingBudget::End;
  Evaluator evaluator(*model, kDrawRows);
  EXPECT_TRUE(absl::IsCancelled(
      evaluator
          .Evaluate(one, model->measured(), CountingBudget(0, End::kCancelled))
          .status()));
  Evaluator other(*model, kDrawRows);
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      other.Evaluate(one, model->measured(), CountingBudget(0, End::kDeadline))
          .status()));
}

}  // namespace
}  // namespace prism::placement
