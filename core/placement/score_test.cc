#include "core/placement/score.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "core/placement/evaluator.h"
#include "core/placement/race.h"
#include "core/placement/test_support.h"
#include "core/step/simulate.h"

namespace prism::placement {
namespace {

using stats::Distribution;

// Eight nodes of 4 GPUs, of which 0 to 3 are equal and fast.
ScoreRequest FourNodeRequest() {
  ScoreRequest request;
  request.job = TestJob({.tensor = 4, .pipeline = 2, .data = 2});
  request.cluster = FlatCluster(8, 4);
  for (int64_t node = 0; node < 8; ++node) {
    hardware::NodeState state;
    state.node = node;
    state.slowdown = node < 4 ? 1 : 1 + 0.05 * static_cast<double>(node - 3);
    request.cluster.node_states.push_back(state);
  }
  request.random_key = 5;
  return request;
}

ScoreResult Score(const ScoreRequest& request) {
  base::InlineExecutor executor;
  auto result = ScorePlacements(request, base::UnlimitedBudget(), executor);
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

// p05 to p95: of a normal 3.29 deviations, and unlike the deviation not made of
// rare slow steps.
double CoreSeconds(const step::StepTime& time) {
  return time.quantile_seconds[5] - time.quantile_seconds[1];
}

double SumOfProbabilities(const ScoreResult& result) {
  double sum = 0;
  for (const ScoredPlacement& scored : result.placements) {
    sum += scored.probability_best;
  }
  return sum;
}

TEST(ScoreTest, FasterNodesScoreHigher) {
  ScoreRequest request = FourNodeRequest();
  request.placements = {{4, 5, 6, 7}, {0, 1, 2, 3}, {0, 1, 2, 7}};
  const ScoreResult result = Score(request);
  ASSERT_EQ(result.placements.size(), 3u);
  EXPECT_EQ(result.quality, step::Quality::kExact);
  EXPECT_EQ(result.placements[1].score, 100);
  EXPECT_EQ(result.placements[1].tied_group, 0);
  EXPECT_EQ(result.placements[1].probability_best, 1);
  EXPECT_EQ(result.placements[1].difference_seconds, 0);
  EXPECT_EQ(result.placements[1].difference_error_seconds, 0);
  EXPECT_GT(result.placements[2].score, result.placements[0].score);
  EXPECT_GT(result.placements[2].tied_group, 0);
  EXPECT_NEAR(SumOfProbabilities(result), 1, 1e-12);
}

TEST(ScoreTest, WhatCannotBeToldApartIsOneGroup) {
  ScoreRequest request = FourNodeRequest();
  request.placements = {{0, 1, 2, 3}, {3, 1, 0, 2}, {0, 1, 2, 4}, {2, 1, 0, 4}};
  const ScoreResult result = Score(request);
  EXPECT_EQ(result.placements[0].score, result.placements[1].score);
  EXPECT_EQ(result.placements[0].tied_group, 0);
  EXPECT_EQ(result.placements[1].tied_group, 0);
  EXPECT_EQ(result.placements[0].probability_best, 0.5);
  EXPECT_EQ(result.placements[1].probability_best, 0.5);
  EXPECT_EQ(result.placements[2].tied_group, 1);
  EXPECT_EQ(result.placements[2].score, result.placements[3].score);
  EXPECT_LT(result.placements[2].score, 100);
}

TEST(ScoreTest, TheBestIsWhatAPredictionSays) {
  ScoreRequest request = FourNodeRequest();
  request.placements = {{0, 1, 2, 3}, {0, 1, 2, 7}};
  const ScoreResult result = Score(request);
  const auto model = TestModel(request.job, request.cluster);
  base::InlineExecutor executor;
  for (int i = 0; i < 2; ++i) {
    const auto graph = model->Graph(request.placements[i]);
    ASSERT_TRUE(graph.ok());
    step::SimulationOptions options;
    options.random_key = request.random_key;
    const auto predicted =
        step::Simulate(*graph, options, base::UnlimitedBudget(), executor);
    ASSERT_TRUE(predicted.ok());
    const step::StepTime& scored = result.placements[i].step_time;
    const double allowed = 3 * kModelError * predicted->mean_seconds;
    EXPECT_NEAR(scored.mean_seconds, predicted->mean_seconds, allowed) << i;
    // The shape is another's, moved: a tenth of the core's deviation.
    const double core = CoreSeconds(*predicted) / 3.29;
    for (size_t q = 0; q < step::kQuantileLevels.size(); ++q) {
      EXPECT_NEAR(scored.quantile_seconds[q], predicted->quantile_seconds[q],
                  allowed + 0.1 * core)
          << i << " " << q;
    }
    EXPECT_GT(scored.standard_error_seconds[3], 0);
  }
}

TEST(ScoreTest, QuantilesCanBeTheObjective) {
  ScoreRequest request = FourNodeRequest();
  request.placements = {{0, 1, 2, 3}, {0, 1, 2, 7}};
  request.goal = {.objective = Objective::kQuantile, .risk_quantile = 0.95};
  const ScoreResult result = Score(request);
  EXPECT_NEAR(result.placements[1].difference_seconds,
              result.placements[1].step_time.quantile_seconds[5] -
                  result.placements[0].step_time.quantile_seconds[5],
              1e-12);
}

// One node in doubt, with the same mean as the others: what it may be slower
// costs, what it may be faster does not help the job that waits for the rest.
TEST(ScoreTest, DoubtCosts) {
  ScoreRequest request = FourNodeRequest();
  request.cluster.node_states[4].slowdown = 1;
  request.cluster.node_states[4].measured_slowdown =
      Distribution::MakeNormal(1, 0.05);
  request.placements = {{0, 1, 2, 3}, {0, 1, 2, 4}};
  const ScoreResult result = Score(request);
  EXPECT_GT(result.placements[1].difference_seconds,
            0.004 * result.placements[0].step_time.mean_seconds);
  // Beside the 1.4% that all steps of so short a job share.
  EXPECT_GT(CoreSeconds(result.placements[1].step_time),
            1.3 * CoreSeconds(result.placements[0].step_time));
  EXPECT_GT(result.placements[1].difference_error_seconds, 0);
  EXPECT_NEAR(SumOfProbabilities(result), 1, 1e-9);
}

TEST(ScoreTest, HopelessCandidatesAreStopped) {
  ScoreRequest request = FourNodeRequest();
  for (auto& state : request.cluster.node_states) {
    state.measured_slowdown = Distribution::MakeNormal(*state.slowdown, 0.002);
  }
  request.placements = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  const ScoreResult result = Score(request);
  EXPECT_FALSE(result.placements[0].stopped_early);
  EXPECT_TRUE(result.placements[1].stopped_early);
  EXPECT_EQ(result.placements[0].probability_best, 1);
  EXPECT_EQ(result.quality, step::Quality::kExact);
}

TEST(ScoreTest, AnswersRepeat) {
  ScoreRequest request = FourNodeRequest();
  request.cluster.node_states[1].measured_slowdown =
      Distribution::MakeGamma(1, 0.02);
  request.placements = {{0, 1, 2, 3}, {0, 4, 2, 3}, {5, 4, 2, 3}};
  const ScoreResult first = Score(request), second = Score(request);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(first.placements[i].step_time.mean_seconds,
              second.placements[i].step_time.mean_seconds);
    EXPECT_EQ(first.placements[i].probability_best,
              second.placements[i].probability_best);
  }
}

TEST(ScoreTest, ADeadlineLeavesWhatThereIs) {
  ScoreRequest request = FourNodeRequest();
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    request.placements.push_back(RandomNodes(request.cluster, 4, random));
  }
  base::InlineExecutor executor;
  int reduced = 0, answered = 0;
  for (int looks = 50; looks < 700; looks += 9) {
    const auto result = ScorePlacements(
        request, CountingBudget(looks, CountingBudget::End::kDeadline),
        executor);
    if (!result.ok()) {
      EXPECT_TRUE(absl::IsDeadlineExceeded(result.status()));
      continue;
    }
    ++answered;
    if (result->quality == step::Quality::kReduced) ++reduced;
    EXPECT_EQ(result->placements.size(), 300u);
    EXPECT_NEAR(SumOfProbabilities(*result), 1, 1e-9);
    for (const ScoredPlacement& scored : result->placements) {
      EXPECT_GT(scored.step_time.mean_seconds, 0);
    }
  }
  EXPECT_GT(reduced, 0);
  EXPECT_GT(answered, 0);
}

TEST(ScoreTest, CancellationEndsIt) {
  ScoreRequest request = FourNodeRequest();
  request.placements = {{0, 1, 2, 3}, {0, 1, 2, 7}};
  base::InlineExecutor executor;
  for (const int looks : {0, 1, 3}) {
    EXPECT_TRUE(absl::IsCancelled(
        ScorePlacements(request,
                        CountingBudget(looks, CountingBudget::End::kCancelled),
                        executor)
            .status()))
        << looks;
  }
}

// Of the statements "this one is the best with probability p", as many are true
// as they say: 2,000 truths drawn from what is known of the nodes, judged by
// the nominal mean of each candidate under the truth.
TEST(ScoreTest, ProbabilitiesAreCalibrated) {
  constexpr int kQuestions = 200, kTruths = 10, kCandidates = 5;
  constexpr int kBins = 10;
  const workload::Job job =
      TestJob({.tensor = 4, .pipeline = 2, .data = 2, .microbatches = 4});
  std::mt19937_64 random(99);
  std::normal_distribution<> normal;
  std::array<double, kBins> said{}, said_variance{}, seen{};
  base::InlineExecutor executor;
  for (int q = 0; q < kQuestions; ++q) {
    hardware::Cluster cluster = FlatCluster(10, 4);
    for (int64_t node = 0; node < 10; ++node) {
      hardware::NodeState state;
      state.node = node;
      state.slowdown = 1.05 + 0.02 * normal(random);
      state.measured_slowdown =
          Distribution::MakeNormal(*state.slowdown, 0.015);
      cluster.node_states.push_back(state);
    }
    const auto model = TestModel(job, cluster);
    std::vector<NodeList> placements;
    for (int i = 0; i < kCandidates; ++i) {
      placements.push_back(RandomNodes(cluster, 4, random));
    }
    const auto result = ScorePlacements(*model, placements, {},
                                        base::UnlimitedBudget(), executor);
    ASSERT_TRUE(result.ok());
    Evaluator evaluator(*model, 1);
    std::array<double, kCandidates> won{};
    for (int t = 0; t < kTruths; ++t) {
      std::vector<double> truth;
      for (const auto& state : cluster.node_states) {
        truth.push_back(*state.slowdown + 0.015 * normal(random));
      }
      const auto steps =
          evaluator.Evaluate(placements, truth, base::UnlimitedBudget());
      ASSERT_TRUE(steps.ok());
      const auto best = std::min_element(steps->begin(), steps->end(),
                                         [](const auto& a, const auto& b) {
                                           return a.step.mean < b.step.mean;
                                         });
      ++won[best - steps->begin()];
    }
    for (int i = 0; i < kCandidates; ++i) {
      const double p = result->placements[i].probability_best;
      const int bin = std::min(kBins - 1, static_cast<int>(p * kBins));
      said[bin] += kTruths * p;
      said_variance[bin] += kTruths * p * (1 - p);
      seen[bin] += won[i];
    }
  }
  for (int bin = 0; bin < kBins; ++bin) {
    // Three binomial deviations and 1 for the rounding of few.
    EXPECT_NEAR(seen[bin], said[bin], 3 * std::sqrt(said_variance[bin]) + 1)
        << bin;
  }
}

}  // namespace
}  // namespace prism::placement
