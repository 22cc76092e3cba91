#include "core/step/composition/operation_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "core/stats/sample_quantiles.h"
#include "core/step/composition/test_models.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;

constexpr int kSamples = 1 << 17;

// Segments of one operation, with `lanes` lanes.
StepProfile ProfileOf(int lanes, std::vector<ProfileSegment> segments) {
  StepProfile profile = OneOperation(Distribution::MakeConstant(0));
  profile.tensor = lanes;
  profile.forward = std::move(segments);
  return profile;
}

std::optional<OperationLaw> Reduce(const StepProfile& profile,
                                   double compute_factor = 1,
                                   double network_factor = 1,
                                   double rare_weight = 0) {
  const StepGraph graph = BuildGraph(profile);
  LawTable laws(graph);
  return ReduceOperation(graph, graph.programs[graph.program_of[0][0]],
                         {compute_factor, network_factor, rare_weight}, laws);
}

class Sampler {
 public:
  double Uniform() {
    double u = 0;
    while (u == 0) u = uniform_(generator_);
    return u;
  }
  double Draw(const Distribution& d) {
    return d.IsConstant() ? d.Mean() : d.Quantile(Uniform());
  }
  float Score() { return static_cast<float>(normal_(generator_)); }

 private:
  std::mt19937_64 generator_{7};
  std::uniform_real_distribution<double> uniform_{0, 1};
  std::normal_distribution<double> normal_{0, 1};
};

// Durations by what a step profile says: every draw of every lane.
std::vector<double> BruteForce(const StepProfile& profile) {
  Sampler sampler;
  std::vector<double> seconds(kSamples);
  for (double& total : seconds) {
    std::vector<double> clock(profile.tensor, 0.0);
    for (const ProfileSegment& segment : profile.forward) {
      for (int64_t i = 0; i < segment.count; ++i) {
        for (double& c : clock) c += sampler.Draw(segment.compute);
        if (segment.sync == Sync::kTensor) {
          const double end = *std::max_element(clock.begin(), clock.end()) +
                             sampler.Draw(segment.collective);
          std::fill(clock.begin(), clock.end(), end);
        } else {
          for (double& c : clock) c += sampler.Draw(segment.collective);
        }
      }
    }
    total = *std::max_element(clock.begin(), clock.end()) * 1e-3;
  }
  return seconds;
}

std::vector<double> SamplesOf(const OperationLaw& law) {
  Sampler sampler;
  std::vector<double> seconds(kSamples, law.mean);
  for (const ScoreDraw& draw : law.draws) {
    std::vector<float> score(kSamples);
    for (float& z : score) z = sampler.Score();
    const std::vector<float> values = ValuesOf(draw, score);
    for (size_t i = 0; i < seconds.size(); ++i) seconds[i] += values[i];
  }
  return seconds;
}

// Mean, variance and quantiles within the errors of both samples and a
// fiftieth of the deviation, which is what three terms of the cumulants miss.
void ExpectFollowsBruteForce(const StepProfile& profile) {
  const auto law = Reduce(profile);
  ASSERT_TRUE(law.has_value());
  std::vector<double> expected = BruteForce(profile);
  std::vector<double> actual = SamplesOf(*law);
  const auto moments = stats::SampleMoments(expected);
  const double sd = moments.standard_deviation;
  const double error = sd / std::sqrt(kSamples);
  EXPECT_NEAR(law->mean, moments.mean, 5 * error + 2e-3 * sd);
  EXPECT_NEAR(std::sqrt(law->variance), sd, 0.02 * sd);
  std::sort(expected.begin(), expected.end());
  std::sort(actual.begin(), actual.end());
  for (const double p : {0.01, 0.1, 0.5, 0.9, 0.99, 0.999}) {
    const double off = std::hypot(stats::SortedQuantileError(expected, p),
                                  stats::SortedQuantileError(actual, p));
    EXPECT_NEAR(stats::SortedQuantile(actual, p),
                stats::SortedQuantile(expected, p), 5 * off + 0.02 * sd)
        << p;
  }
}

ProfileSegment Meeting(Distribution compute, Distribution collective,
                       int64_t count = 1) {
  return {std::move(compute), std::move(collective), Sync::kTensor, count};
}

TEST(OperationLaw, OneLaneIsTheSumOfItsDraws) {
  ExpectFollowsBruteForce(ProfileOf(
      1, {ComputeSegment(Distribution::MakeGamma(1, 0.3), Sync::kNone, 8),
          ComputeSegment(Distribution::MakeNormal(3, 0.4))}));
}

TEST(OperationLaw, LanesMeetAtTheirMaximum) {
  ExpectFollowsBruteForce(
      ProfileOf(4, {Meeting(Distribution::MakeNormal(3, 0.3),
                            Distribution::MakeLognormal(0.5, 0.3), 6)}));
}

TEST(OperationLaw, WorkBeforeAMeetingBelongsToIt) {
  ExpectFollowsBruteForce(ProfileOf(
      3, {ComputeSegment(Distribution::MakeNormal(2, 0.3), Sync::kNone, 4),
          Meeting(Distribution::MakeNormal(1, 0.2),
                  Distribution::MakeConstant(0.1), 5)}));
}

TEST(OperationLaw, LanesThatEndApartAreTakenToTheirMaximum) {
  ExpectFollowsBruteForce(
      ProfileOf(4, {Meeting(Distribution::MakeNormal(3, 0.3), {}, 2),
                    ComputeSegment(Distribution::MakeNormal(2, 0.2))}));
}

TEST(OperationLaw, HeavyPartsKeepTheirOwnDraws) {
  const StepProfile profile =
      ProfileOf(1, {ComputeSegment(Distribution::MakeNormal(3, 0.2)),
                    Meeting(Distribution::MakeConstant(1),
                            Distribution::MakeShiftedExponential(0.1, 1))});
  const auto law = Reduce(profile);
  ASSERT_TRUE(law.has_value());
  EXPECT_EQ(law->draws.size(), 2u);
  ExpectFollowsBruteForce(profile);
}

TEST(OperationLaw, ConstantsHaveNoDraw) {
  const auto law =
      Reduce(ProfileOf(2, {Meeting(Distribution::MakeConstant(3),
                                   Distribution::MakeConstant(1), 4)}));
  ASSERT_TRUE(law.has_value());
  EXPECT_NEAR(law->mean, 0.016, 1e-12);
  EXPECT_NEAR(law->compute_mean, 0.012, 1e-12);
  EXPECT_TRUE(law->draws.empty());
}

TEST(OperationLaw, FactorsActOnTheirClass) {
  const auto law =
      Reduce(ProfileOf(2, {Meeting(Distribution::MakeConstant(3),
                                   Distribution::MakeConstant(1), 4)}),
             2, 10);
  ASSERT_TRUE(law.has_value());
  EXPECT_NEAR(law->compute_mean, 0.024, 1e-12);
  EXPECT_NEAR(law->mean, 0.064, 1e-12);
}

TEST(OperationLaw, NetworkShareIsThatOfTheVariance) {
  const auto law =
      Reduce(ProfileOf(1, {Meeting(Distribution::MakeNormal(5, 0.3),
                                   Distribution::MakeNormal(2, 0.4))}));
  ASSERT_TRUE(law.has_value());
  EXPECT_NEAR(law->network_share, 0.16 / 0.25, 1e-6);
}

Distribution Stalling(double weight) {
  return Distribution::MakeMixture(
      {{1 - weight, Distribution::MakeNormal(2, 0.1)},
       {weight, Distribution::MakeConstant(50)}});
}

TEST(OperationLaw, RareStallsAreSplitOff) {
  const StepProfile profile = ProfileOf(4, {Meeting(Stalling(1e-6), {}, 5)});
  const auto law = Reduce(profile, 1, 1, 1e-4);
  ASSERT_TRUE(law.has_value());
  double probability = 0;
  for (const RareStall& stall : law->stalls) {
    probability += stall.probability;
    EXPECT_NEAR(stall.seconds.At(0), 0.05, 1e-9);
    EXPECT_NEAR(stall.typical, 0.002, 0.0003);
  }
  // 5 repetitions on 4 lanes.
  EXPECT_NEAR(probability, 20e-6, 1e-12);
  EXPECT_LT(law->mean, 0.011);
}

TEST(OperationLaw, FrequentOnesAreNoStalls) {
  const auto law =
      Reduce(ProfileOf(1, {Meeting(Stalling(0.01), {})}), 1, 1, 1e-4);
  ASSERT_TRUE(law.has_value());
  EXPECT_TRUE(law->stalls.empty());
}

TEST(OperationLaw, LaneSlackBoundsWhatWaitingAdds) {
  const auto law =
      Reduce(ProfileOf(8, {ComputeSegment(Distribution::MakeNormal(2, 0.2))}));
  ASSERT_TRUE(law.has_value());
  // The maximum of eight normals is 1.4236 deviations above their mean.
  EXPECT_NEAR(law->lane_slack, 1.4236 * 0.2e-3, 1e-6);
  const auto meets =
      Reduce(ProfileOf(8, {Meeting(Distribution::MakeNormal(2, 0.2), {})}));
  ASSERT_TRUE(meets.has_value());
  EXPECT_EQ(meets->lane_slack, 0);
}

TEST(OperationLaw, PartialGroupsAreLeftToTheReference) {
  StepGraph graph =
      BuildGraph(ProfileOf(4, {Meeting(Distribution::MakeNormal(2, 0.2), {})}));
  for (Group& group : graph.groups) group.lane_count = 2;
  LawTable laws(graph);
  EXPECT_FALSE(
      ReduceOperation(graph, graph.programs[graph.program_of[0][0]], {}, laws)
          .has_value());
}

TEST(MakeDraw, SmoothLawsArePolynomials) {
  const ScoreLaw law = ScoreLaw::Of(Distribution::MakeLognormal(1, 0.2));
  const Cumulants c = law.ComputeCumulants();
  EXPECT_TRUE(MakeDraw(law, c[0], std::sqrt(c[1])).is_polynomial);
}

TEST(MakeDraw, LawsWithStepsAreTables) {
  const ScoreLaw law = ScoreLaw::Of(Distribution::MakeEmpirical({1, 1, 5}));
  const Cumulants c = law.ComputeCumulants();
  EXPECT_FALSE(MakeDraw(law, c[0], std::sqrt(c[1])).is_polynomial);
}

TEST(SplitRare, KeepsWhatIsRareButShort) {
  std::vector<stats::MixtureComponent> rare;
  const Distribution common = SplitRare(
      Distribution::MakeMixture({{1 - 2e-6, Distribution::MakeConstant(2)},
                                 {1e-6, Distribution::MakeConstant(1)},
                                 {1e-6, Distribution::MakeConstant(50)}}),
      1e-4, &rare);
  ASSERT_EQ(rare.size(), 1u);
  EXPECT_EQ(rare[0].distribution.Mean(), 50);
  EXPECT_NEAR(rare[0].weight, 1e-6, 1e-12);
  EXPECT_LT(common.Mean(), 2.00001);
}

}  // namespace
}  // namespace prism::step
