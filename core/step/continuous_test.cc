// The engines on runs of steps without a flush.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "core/stats/sample_quantiles.h"
#include "core/step/schedule.h"
#include "core/step/schedules/asynchronous.h"
#include "core/step/schedules/continuous_support.h"
#include "core/step/schedules/round_robin.h"
#include "core/step/simulate.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;

constexpr double kForward = 1, kBackward = 2, kHop = 0.1;
constexpr double kReduction = 0.5, kUpdate = 0.3;
constexpr double kVariation = 0.3;

RunLaws RandomLaws(const ContinuousRun& run, bool with_backward) {
  const auto gamma = [](double mean) {
    return Distribution::MakeGamma(mean, kVariation);
  };
  RunLaws laws;
  laws.forward.assign(run.stage_of.size(), gamma(kForward));
  if (with_backward) {
    laws.backward.assign(run.stage_of.size(), gamma(kBackward));
  }
  laws.hop = gamma(kHop);
  laws.reduction = gamma(kReduction);
  laws.update = gamma(kUpdate);
  return laws;
}

// One period by recursion over the ends of passes, with nothing of the engine:
// replicas of `stages` stages, `steps` steps of m micro-batches.
class PlainRun {
 public:
  PlainRun(int replicas, int stages, int microbatches, int steps,
           std::mt19937_64& random)
      : replicas_(replicas),
        stages_(stages),
        microbatches_(microbatches),
        steps_(steps),
        random_(random) {}

  double Period() {
    const std::vector<double> zero(stages_, 0.0);
    free_.assign(replicas_, zero);
    std::vector<int> forwards(stages_, 0), backwards(stages_, 0);
    std::vector<double> ends(steps_, 0.0);
    const int last = steps_ * microbatches_;
    for (bool moved = true; moved;) {
      moved = false;
      for (int s = 0; s < stages_; ++s) {
        while (backwards[s] < last) {
          const int i = forwards[s];
          if (i < backwards[s] + stages_ - s) {
            if (!RunPass(s, i, s - 1, kForward, forward_)) break;
            ++forwards[s];
          } else {
            if (!RunPass(s, backwards[s], s + 1, kBackward, backward_)) break;
            if (++backwards[s] % microbatches_ == 0) {
              double& end = ends[backwards[s] / microbatches_ - 1];
              end = std::max(end, Update(s));
            }
          }
          moved = true;
        }
      }
    }
    return ends[steps_ - 1] - ends[steps_ - 2];
  }

 private:
  using Passes = std::map<std::pair<int, int>, std::vector<double>>;

  double Draw(double mean) {
    const double shape = 1 / (kVariation * kVariation);
    return std::gamma_distribution<>(shape, mean / shape)(random_);
  }

  // False where what the pass waits for has not run.
  bool RunPass(int stage, int microbatch, int source, double mean,
               Passes& ends) {
    const bool waits = source >= 0 && source < stages_;
    const auto from = ends.find({source, microbatch});
    if (waits && from == ends.end()) return false;
    auto& end = ends[{stage, microbatch}];
    for (int r = 0; r < replicas_; ++r) {
      if (waits) {
        const double arrival = from->second[r] + Draw(kHop);
        free_[r][stage] = std::max(free_[r][stage], arrival);
      }
      free_[r][stage] += Draw(mean);
      end.push_back(free_[r][stage]);
    }
    return true;
  }

  double Update(int stage) {
    double met = 0, end = 0;
    for (const auto& free : free_) met = std::max(met, free[stage]);
    met += Draw(kReduction);
    for (auto& free : free_) {
      free[stage] = met + Draw(kUpdate);
      end = std::max(end, free[stage]);
    }
    return end;
  }

  const int replicas_, stages_, microbatches_, steps_;
  std::mt19937_64& random_;
  std::vector<std::vector<double>> free_;
  Passes forward_, backward_;
};

// Both are Monte Carlo with independent draws: 7 quantiles of 4 cases are
// within 5 standard deviations of both with probability above 99.99%.
TEST(ContinuousTest, PeriodsAreDistributedAsThoseOfAPlainRecursion) {
  constexpr int kCases[][3] = {{1, 3, 4}, {2, 2, 1}, {3, 4, 5}, {2, 3, 2}};
  std::mt19937_64 random(11);
  for (const auto& [replicas, stages, microbatches] : kCases) {
    const int steps = WarmUpSteps(stages, microbatches) + 1;
    std::vector<double> periods(4000);
    for (double& period : periods) {
      period = PlainRun(replicas, stages, microbatches, steps, random).Period();
    }
    std::sort(periods.begin(), periods.end());
    const ContinuousRun run =
        OneForwardOneBackwardRun(stages, microbatches, steps);
    const StepTime time =
        SimulateSamples(GraphOf(run, RandomLaws(run, true), replicas), 20'000);
    for (size_t i = 0; i < kQuantileLevels.size(); ++i) {
      const double level = kQuantileLevels[i];
      EXPECT_NEAR(time.quantile_seconds[i],
                  stats::SortedQuantile(periods, level),
                  5 * std::hypot(time.standard_error_seconds[i],
                                 stats::SortedQuantileError(periods, level)))
          << replicas << " replicas, " << stages << " stages, " << microbatches
          << " micro-batches, p" << 100 * level;
    }
  }
}

TEST(ContinuousTest, ThreadsDoNotChangeAPeriod) {
  const ContinuousRun run = RoundRobinRun(3, 1, 4, 3);
  const StepGraph graph = GraphOf(run, RandomLaws(run, false), 2);
  const StepTime one = SimulateSamples(graph, 500, 3, 1);
  const StepTime two = SimulateSamples(graph, 500, 3, 2);
  EXPECT_EQ(one.mean_seconds, two.mean_seconds);
  EXPECT_EQ(one.quantile_seconds, two.quantile_seconds);
}

TEST(ContinuousTest, TheAutomaticMethodFallsBackAndSaysSo) {
  const ContinuousRun run = OneForwardOneBackwardRun(2, 2, 3);
  base::InlineExecutor executor;
  const auto time = Simulate(GraphOf(run, RandomLaws(run, true)),
                             {.method = Method::kAuto, .samples = 200},
                             base::UnlimitedBudget(), executor);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->method, Method::kMonteCarlo);
}

TEST(ContinuousTest, TheNominalBreakdownIsOfTheLastStepAlone) {
  const ContinuousRun run = OneForwardOneBackwardRun(4, 8, 3);
  StepGraph graph = GraphOf(run, ConstantLaws(run, 1, 2, 0.2, 0.7));
  graph.kinds = {"compute", "hop"};
  graph.hop_kind = 1;
  const auto step = SimulateNominal(graph);
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_NEAR(step->seconds, 27.1, 1e-9);
  EXPECT_NEAR(step->by_kind.at("compute"), 24.7, 1e-9);
  EXPECT_NEAR(step->by_kind.at("hop") + step->by_kind.at("bubble"), 2.4, 1e-9);
}

TEST(ContinuousTest, WrongUpdatesAreRefused) {
  const ContinuousRun run = OneForwardOneBackwardRun(2, 2, 2);
  const StepGraph good = GraphOf(run, ConstantLaws(run, 1, 2));
  ASSERT_TRUE(good.Validate().ok());
  StepGraph graph = good;
  graph.updates.pop_back();
  EXPECT_FALSE(graph.Validate().ok());
  graph = good;
  graph.updates[1].pop_back();
  EXPECT_FALSE(graph.Validate().ok());
  graph = good;
  std::swap(graph.updates[0][0], graph.updates[0][1]);
  EXPECT_FALSE(graph.Validate().ok());
  graph = good;
  --graph.updates[0].back();
  EXPECT_FALSE(graph.Validate().ok());
  graph = good;
  for (auto& updates : graph.updates) updates.erase(updates.begin());
  EXPECT_FALSE(graph.Validate().ok());
}

TEST(ContinuousTest, WrongFetchesAreRefused) {
  const ContinuousRun run = RoundRobinRun(2, 1, 3, 2);
  const StepGraph good = GraphOf(run, RandomLaws(run, false));
  ASSERT_TRUE(good.Validate().ok());
  StepGraph graph = good;
  graph.fetches.pop_back();
  EXPECT_FALSE(graph.Validate().ok());
  graph = good;
  graph.fetches[0][1] = graph.fetches[0][0];
  EXPECT_FALSE(graph.Validate().ok());
  graph = good;
  graph.fetches[1].back() = graph.order[1].size();
  EXPECT_FALSE(graph.Validate().ok());
  graph = good;
  graph.fetch = static_cast<int>(graph.programs.size());
  EXPECT_FALSE(graph.Validate().ok());
}

// Weights of two versions, and no more stages than micro-batches.
TEST(ContinuousTest, SchedulesSayWhatTheyKeepAndTake) {
  EXPECT_EQ(WeightVersions(ScheduleKind::kTwoBufferedWeights), 2);
  EXPECT_EQ(WeightVersions(ScheduleKind::kBubbleFree), 1);
  EXPECT_EQ(WeightVersions(ScheduleKind::kRoundRobin), 1);
  EXPECT_FALSE(MakeRun(ScheduleKind::kTwoBufferedWeights, {4, 1, 3}).ok());
  EXPECT_TRUE(MakeRun(ScheduleKind::kBubbleFree, {4, 1, 3}).ok());
  EXPECT_FALSE(MakeRun(ScheduleKind::kBubbleFree, {4, 2, 3}).ok());
  EXPECT_TRUE(MakeRun(ScheduleKind::kRoundRobin, {4, 2, 3}).ok());
}

}  // namespace
}  // namespace prism::step
