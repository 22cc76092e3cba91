// Known laws of maxima and sums, realised as groups and repeated segments.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/stats/normal.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;

constexpr int kMedian = 3;
constexpr int kP95 = 5;

// Far enough above 0 that no draw is cut.
constexpr double kMean = 20;

struct Maximum {
  int n;
  double median;
  double p95;
};

// Of n independent standard normals: the roots of Phi(x)^n = p.
constexpr Maximum kMaxima[] = {
    {8, 1.38520, 2.48978},    {64, 2.29831, 3.15549},
    {512, 2.99933, 3.71857},  {1024, 3.20442, 3.89016},
    {8192, 3.76103, 4.36828}, {65536, 4.25236, 4.80271},
};

// The sample quantile at p of S values of density f has the standard error
// sqrt(p (1 - p) / S) / f(x). The maximum of n normals has the density
// n Phi(x)^(n - 1) phi(x) = n p phi(x) / Phi(x) at its p-quantile x. Five of
// them, and half a unit of the last digit that the table gives.
double Tolerance(int n, double x, double p, double samples) {
  const double density = n * p * stats::NormalDensity(x) / stats::NormalCdf(x);
  return 5 * std::sqrt(p * (1 - p) / samples) / density + 5e-6;
}

class MaximumTest : public testing::TestWithParam<Maximum> {
 protected:
  // 2^25 draws in all, and no more than 20,000 samples.
  int64_t samples() const {
    return std::min<int64_t>(20000, (int64_t{1} << 25) / GetParam().n);
  }

  void ExpectMaximumOfNormals(const StepProfile& profile) {
    const StepTime time = SimulateSamples(BuildGraph(profile), samples());
    const auto& [n, median, p95] = GetParam();
    const double s = static_cast<double>(samples());
    EXPECT_NEAR(time.quantile_seconds[kMedian] * 1e3 - kMean, median,
                Tolerance(n, median, 0.5, s));
    EXPECT_NEAR(time.quantile_seconds[kP95] * 1e3 - kMean, p95,
                Tolerance(n, p95, 0.95, s));
  }

  static StepProfile OneNormal() {
    StepProfile profile;
    profile.forward = {ComputeSegment(Distribution::MakeNormal(kMean, 1))};
    profile.backward = {ProfileSegment{}};
    return profile;
  }
};

TEST_P(MaximumTest, OverATensorGroup) {
  StepProfile profile = OneNormal();
  profile.tensor = GetParam().n;
  profile.forward[0].sync = Sync::kTensor;
  ExpectMaximumOfNormals(profile);
}

TEST_P(MaximumTest, OverADataGroupAtTheGradientSync) {
  StepProfile profile = OneNormal();
  profile.data = GetParam().n;
  ExpectMaximumOfNormals(profile);
}

TEST_P(MaximumTest, OverADataGroupWithinTheOperation) {
  StepProfile profile = OneNormal();
  profile.data = GetParam().n;
  profile.forward[0].sync = Sync::kData;
  ExpectMaximumOfNormals(profile);
}

INSTANTIATE_TEST_SUITE_P(Sizes, MaximumTest, testing::ValuesIn(kMaxima),
                         [](const auto& test) {
                           return "Of" + std::to_string(test.param.n);
                         });

// The maximum of n unit exponentials is the sum of independent exponentials of
// means 1, 1/2, .. 1/n: its mean is the n-th harmonic number, its variance
// below pi^2 / 6. Five standard errors of the mean of S samples.
TEST(ExponentialTest, MeanOfTheMaximumIsTheHarmonicNumber) {
  constexpr int kSamples = 20000;
  double harmonic = 0;
  int terms = 0;
  for (int n : {1, 2, 16, 128, 1024}) {
    while (terms < n) harmonic += 1.0 / ++terms;
    StepProfile profile;
    profile.forward = {ComputeSegment(
        Distribution::MakeShiftedExponential(0, 1), Sync::kTensor)};
    profile.backward = {ProfileSegment{}};
    profile.tensor = n;
    const StepTime time = SimulateSamples(BuildGraph(profile), kSamples);
    EXPECT_NEAR(time.mean_seconds * 1e3, harmonic,
                5 * std::sqrt(M_PI * M_PI / 6 / kSamples))
        << n;
  }
}

struct GammaSum {
  double cv;
  int terms;
};

class GammaSumTest : public testing::TestWithParam<GammaSum> {};

// k gammas of shape a and scale s make one of shape k a and scale s: mean and
// variance grow k times. Each quantile within five of its standard errors,
// with the density from a difference quotient of the exact law.
TEST_P(GammaSumTest, OfRepeatedSegmentsIsAGamma) {
  constexpr int kSamples = 50000;
  const auto& [cv, terms] = GetParam();
  StepProfile profile;
  profile.forward = {
      ComputeSegment(Distribution::MakeGamma(2, cv), Sync::kNone, terms)};
  profile.backward = {ProfileSegment{}};
  const StepTime time = SimulateSamples(BuildGraph(profile), kSamples);
  const Distribution sum =
      Distribution::MakeGamma(2.0 * terms, cv / std::sqrt(terms));
  for (size_t i = 0; i < kQuantileLevels.size(); ++i) {
    const double p = kQuantileLevels[i];
    const double x = sum.Quantile(p), dx = 1e-4 * x;
    const double density = (sum.Cdf(x + dx) - sum.Cdf(x - dx)) / (2 * dx);
    EXPECT_NEAR(time.quantile_seconds[i] * 1e3, x,
                5 * std::sqrt(p * (1 - p) / kSamples) / density)
        << "p" << 100 * p;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GammaSumTest,
                         testing::Values(GammaSum{0.05, 100}, GammaSum{0.3, 10},
                                         GammaSum{1, 1}, GammaSum{1, 7},
                                         GammaSum{2, 16}, GammaSum{4, 64}));

}  // namespace
}  // namespace prism::step
