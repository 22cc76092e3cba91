#include "core/explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/stats/sample_quantiles.h"
#include "core/step/random_profile.h"
#include "core/step/step_profile.h"
#include "core/step/test_support.h"

namespace prism::explain {
namespace {

using stats::Distribution;
using step::StepGraph;
using step::StepProfile;

constexpr uint64_t kKey = 3;

Explanation ExplainGraph(const StepGraph& graph, std::optional<int64_t> samples,
                         const base::Budget& budget = base::UnlimitedBudget()) {
  base::InlineExecutor executor;
  auto explanation = Explain(
      graph, {}, {.samples = samples, .random_key = kKey}, budget, executor);
  EXPECT_TRUE(explanation.ok()) << explanation.status();
  return explanation.ok() ? *std::move(explanation) : Explanation();
}

const Cause& CauseOf(const Explanation& explanation, std::string_view name) {
  const auto found = std::find_if(
      explanation.causes.begin(), explanation.causes.end(),
      [name](const Cause& cause) { return cause.source.name == name; });
  EXPECT_NE(found, explanation.causes.end()) << name;
  return *found;
}

// Of several sorts, the cause with the largest of a number.
template <typename Number>
std::string Largest(const Explanation& explanation, const Number& number) {
  const Cause* largest = nullptr;
  for (const Cause& cause : explanation.causes) {
    if (cause.source.by == By::kStage || cause.source.by == By::kRank) continue;
    if (largest == nullptr || number(cause) > number(*largest)) {
      largest = &cause;
    }
  }
  return largest->source.name;
}

// --- a step whose widest kernel says nothing of its spread ---

constexpr int kReplicas = 4, kStages = 2, kMicrobatches = 4;
constexpr int kKernels = 100;
constexpr double kKernelMean = 0.001, kKernelSd = 0.0002;
constexpr double kBackwardSeconds = 0.2;
constexpr double kRegimeSd = 0.01;
constexpr double kFlushMean = 0.3, kFlushSd = 0.06;
constexpr double kWriteSeconds = 2;

// Two stages run noisy kernels, whose noise averages out along the chain, and a
// steady backward; a small factor is common to all of it. At its end the first
// stage flushes something, which varies most, but the second one writes for
// longer. By 1f1b:
//
//   stage 0   F0 F1 B0 F2 B1 F3 B2 B3 flush
//   stage 1   F0 B0 F1 B1 F2 B2 F3 B3 write
StepGraph MisleadingGraph() {
  StepGraph graph = step::EmptyGraph({kReplicas, kStages, 1}, kMicrobatches);
  const auto add = [&](int program, const std::string& name, Distribution law,
                       int64_t count) {
    graph.programs[program].segments.push_back(
        {.tasks = {{.distribution = graph.add_distribution(std::move(law)),
                    .name = graph.add_name(name)}},
         .count = count});
  };
  add(step::kForwardProgram, "forward.kernels",
      Distribution::MakeNormal(kKernelMean, kKernelSd), kKernels);
  add(step::kBackwardProgram, "backward",
      Distribution::MakeConstant(kBackwardSeconds), 1);
  add(step::kClosingProgram, "closing.flush",
      Distribution::MakeNormal(kFlushMean, kFlushSd), 1);
  graph.closing[1] = static_cast<int>(graph.programs.size());
  graph.programs.emplace_back();
  add(graph.closing[1], "closing.write",
      Distribution::MakeConstant(kWriteSeconds), 1);
  graph.shared_factors = {
      {.distribution = Distribution::MakeNormal(1, kRegimeSd),
       .scope = step::FactorScope::kStep,
       .applies_to = {true, false, false},
       .name = "compute_regime"}};
  return graph;
}

// What is random in it. A sum of normal draws is one normal draw.
struct MisleadingDraws {
  double regime;
  double flush[kReplicas];
  std::array<std::array<double, kMicrobatches>, kStages> kernels[kReplicas];
};

MisleadingDraws Means() {
  MisleadingDraws draws;
  draws.regime = 1;
  for (int r = 0; r < kReplicas; ++r) {
    draws.flush[r] = kFlushMean;
    for (auto& of_stage : draws.kernels[r]) {
      for (double& seconds : of_stage) seconds = kKernels * kKernelMean;
    }
  }
  return draws;
}

MisleadingDraws Draw(std::mt19937_64& generator) {
  std::normal_distribution<double> normal;
  MisleadingDraws draws = Means();
  draws.regime += kRegimeSd * normal(generator);
  for (int r = 0; r < kReplicas; ++r) {
    draws.flush[r] += kFlushSd * normal(generator);
    for (auto& of_stage : draws.kernels[r]) {
      for (double& seconds : of_stage) {
        seconds += std::sqrt(kKernels) * kKernelSd * normal(generator);
      }
    }
  }
  return draws;
}

// The step, from the picture above.
double StepSeconds(const MisleadingDraws& draws) {
  double latest = 0;
  const double backward = draws.regime * kBackwardSeconds;
  for (int r = 0; r < kReplicas; ++r) {
    double first = 0, second = 0;  // the stages' clocks
    double arrival[kMicrobatches], gradient[kMicrobatches];
    int sent = 0;
    const auto forward = [&] {
      first += draws.regime * draws.kernels[r][0][sent];
      arrival[sent++] = first;
    };
    const auto run_second = [&](int m) {
      second = std::max(second, arrival[m]) +
               draws.regime * draws.kernels[r][1][m] + backward;
      gradient[m] = second;
    };
    forward();
    for (int m = 0; m < kMicrobatches; ++m) {
      if (sent < kMicrobatches) forward();
      run_second(m);
      first = std::max(first, gradient[m]) + backward;
    }
    latest = std::max({latest, first + draws.regime * draws.flush[r],
                       second + draws.regime * kWriteSeconds});
  }
  return latest;
}

struct BruteForce {
  double variance = 0, p50 = 0, p95 = 0;
};

// `freeze` puts means in the place of some draws. Equal seeds are equal draws.
BruteForce Simulate(int samples,
                    const std::function<void(MisleadingDraws&)>& freeze) {
  std::mt19937_64 generator(12345);
  std::vector<double> seconds;
  for (int i = 0; i < samples; ++i) {
    MisleadingDraws draws = Draw(generator);
    freeze(draws);
    seconds.push_back(StepSeconds(draws));
  }
  const double sd = stats::SampleMoments(seconds).standard_deviation;
  std::sort(seconds.begin(), seconds.end());
  return {sd * sd, stats::SortedQuantile(seconds, 0.5),
          stats::SortedQuantile(seconds, 0.95)};
}

TEST(Explain, TheWidestKernelIsNotTheCause) {
  const Explanation explanation = ExplainGraph(MisleadingGraph(), 4000);
  const auto own = [](const Cause& cause) {
    return cause.source.by == By::kShared ? 0 : cause.own_deviation_seconds;
  };
  const auto share = [](const Cause& cause) {
    return cause.share_of_variance.value;
  };
  EXPECT_EQ(Largest(explanation, own), "closing.flush");
  EXPECT_EQ(Largest(explanation, share), "compute_regime");
  const Cause& flush = CauseOf(explanation, "closing.flush");
  EXPECT_EQ(flush.share_of_variance.value, 0);
  EXPECT_EQ(flush.criticality, 0);
  EXPECT_EQ(flush.share_of_mean, 0);
}

TEST(Explain, IsEqualToBruteForce) {
  const Explanation explanation = ExplainGraph(MisleadingGraph(), 8000);
  constexpr int kSteps = 200'000;
  const BruteForce base = Simulate(kSteps, [](MisleadingDraws&) {});
  const std::vector<
      std::pair<std::string, std::function<void(MisleadingDraws&)>>>
      sources = {
          {"compute_regime", [](MisleadingDraws& d) { d.regime = 1; }},
          {"forward.kernels",
           [](MisleadingDraws& d) {
             const MisleadingDraws means = Means();
             std::copy(std::begin(means.kernels), std::end(means.kernels),
                       std::begin(d.kernels));
           }},
          {"closing.flush",
           [](MisleadingDraws& d) {
             std::fill_n(d.flush, kReplicas, kFlushMean);
           }},
      };
  for (const auto& [name, freeze] : sources) {
    SCOPED_TRACE(name);
    const BruteForce without = Simulate(kSteps, freeze);
    const Cause& cause = CauseOf(explanation, name);
    // Of the brute force the error is a fifth of ours: 25 times the steps.
    const auto near = [](const Difference& ours, double theirs) {
      EXPECT_NEAR(ours.value, theirs, 4.2 * ours.standard_error + 1e-12);
    };
    near(cause.share_of_variance, 1 - without.variance / base.variance);
    near(cause.without.p50, without.p50 - base.p50);
    near(cause.without.p95, without.p95 - base.p95);
    EXPECT_LE(cause.share_of_variance.standard_error, 0.02);
  }
}

// --- critical paths ---

class RandomProfileTest : public testing::TestWithParam<uint64_t> {
 protected:
  RandomProfileTest()
      : graph_(step::BuildGraph(step::RandomProfile(GetParam()))) {}

  const StepGraph graph_;
};

TEST_P(RandomProfileTest, KindsAndCollectivesAreAllOfTheMean) {
  const Explanation explanation = ExplainGraph(graph_, 200);
  ASSERT_GT(explanation.paths, 0);
  double sum = 0;
  for (const Cause& cause : explanation.causes) {
    EXPECT_GE(cause.share_of_mean, 0);
    EXPECT_LE(cause.share_of_mean, 1 + 1e-9);
    EXPECT_EQ(cause.criticality > 0, cause.share_of_mean > 0);
    if (cause.source.by == By::kKind || cause.source.by == By::kCollective) {
      sum += cause.share_of_mean;
    }
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

// So much shorter is the step where a source is a little shorter: the same
// steps, simulated with it scaled.
TEST_P(RandomProfileTest, ShareOfTheMeanIsItsDerivative) {
  const Explanation explanation = ExplainGraph(graph_, 200);
  constexpr double kStep = 1e-7;
  std::vector<StepGraph> graphs = {graph_};
  for (const Cause& cause : explanation.causes) {
    graphs.push_back(WithScaled(graph_, cause.source, 1 + kStep));
  }
  base::InlineExecutor executor;
  const auto compared =
      CompareSteps(graphs, {.samples = explanation.paths, .random_key = kKey},
                   base::UnlimitedBudget(), executor);
  ASSERT_TRUE(compared.ok()) << compared.status();
  const double mean = compared->steps[0].time.mean_seconds;
  for (size_t i = 0; i < explanation.causes.size(); ++i) {
    const Cause& cause = explanation.causes[i];
    // What a stage's or a rank's collectives take is not the stage's compute.
    if (cause.source.by == By::kRank) continue;
    const double longer = compared->steps[i + 1].time.mean_seconds - mean;
    EXPECT_NEAR(longer / mean / kStep, cause.share_of_mean, 1e-4)
        << cause.source.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomProfileTest,
                         testing::Range(uint64_t{1}, uint64_t{25}));

}  // namespace
}  // namespace prism::explain
