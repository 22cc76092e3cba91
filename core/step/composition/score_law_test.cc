#include "core/step/composition/score_law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "core/stats/normal.h"

namespace prism::step {
namespace {

using stats::Distribution;
using stats::NormalCdf;
using stats::NormalQuantile;

// Linear interpolation between nodes a sixteenth apart is off by at most h^2/8
// of the second derivative, which is about the deviation for the laws here.
constexpr double kTable = 1e-3;

struct ExactLaw {
  std::string name;
  Distribution distribution;
  std::function<double(double)> quantile;  // by probability
  Cumulants cumulants;
};

std::vector<ExactLaw> ExactLaws() {
  const double s2 = std::log1p(0.3 * 0.3);
  const double w = std::exp(s2);
  const double variance = 4 * 0.09;
  return {
      {"normal",
       Distribution::MakeNormal(10, 1),
       [](double p) { return 10 + NormalQuantile(p); },
       {10, 1, 0, 0}},
      {"lognormal",
       Distribution::MakeLognormal(2, 0.3),
       [=](double p) {
         return 2 * std::exp(std::sqrt(s2) * NormalQuantile(p) - s2 / 2);
       },
       {2, variance, (w + 2) * std::sqrt(w - 1) * std::pow(variance, 1.5),
        (w * w * w * w + 2 * w * w * w + 3 * w * w - 6) * variance * variance}},
      {"exponential",
       Distribution::MakeShiftedExponential(1, 0.5),
       [](double p) { return 1 - 0.5 * std::log1p(-p); },
       {1.5, 0.25, 2 * 0.125, 6 * 0.0625}},
  };
}

TEST(ScoreLaw, TabulatesQuantiles) {
  for (const ExactLaw& exact : ExactLaws()) {
    const ScoreLaw law = ScoreLaw::Of(exact.distribution);
    for (double z = -4; z <= 4; z += 0.3) {
      EXPECT_NEAR(law.At(z), exact.quantile(NormalCdf(z)), kTable)
          << exact.name << " at " << z;
    }
  }
}

TEST(ScoreLaw, MaximumHasThePowerOfTheDistributionFunction) {
  for (const ExactLaw& exact : ExactLaws()) {
    for (const double count : {1.0, 2.0, 8.0, 2.5, 4096.0}) {
      const ScoreLaw maximum =
          ScoreLaw::Of(exact.distribution).MaximumOf(count);
      for (const double p : {0.01, 0.25, 0.5, 0.9, 0.999}) {
        EXPECT_NEAR(maximum.At(NormalQuantile(p)),
                    exact.quantile(std::pow(p, 1 / count)), 2 * kTable)
            << exact.name << " of " << count << " at " << p;
      }
    }
  }
}

TEST(ScoreLaw, MaximumOfUnequalCopiesHasTheProduct) {
  const Distribution normal = Distribution::MakeNormal(10, 1);
  const WeightedFactor copies[] = {{0.9, 5}, {1, 3}, {1.1, 2}};
  const ScoreLaw maximum = ScoreLaw::Of(normal).MaximumOf(copies);
  for (double z = -3; z <= 3; z += 0.5) {
    const double x = maximum.At(z);
    double p = 1;
    for (const auto& copy : copies) {
      p *= std::pow(normal.Cdf(x / copy.factor), copy.count);
    }
    EXPECT_NEAR(NormalQuantile(p), z, 0.01);
  }
}

TEST(ScoreLaw, CumulantsAreThoseOfTheLaw) {
  for (const ExactLaw& exact : ExactLaws()) {
    const Cumulants c = ScoreLaw::Of(exact.distribution).ComputeCumulants();
    const double sd = std::sqrt(exact.cumulants[1]);
    for (size_t i = 0; i < c.size(); ++i) {
      EXPECT_NEAR(c[i], exact.cumulants[i],
                  1e-3 * std::pow(sd, static_cast<double>(i + 1)))
          << exact.name << " " << i;
    }
  }
}

TEST(ScoreLaw, CumulantsOfSumsAddAndScale) {
  const Cumulants one = {1, 2, 3, 4};
  EXPECT_EQ(RepeatedCumulants(one, 3), (one + one) + one);
  EXPECT_EQ(ScaledCumulants(one, 2), (Cumulants{2, 8, 24, 64}));
}

TEST(ScoreLaw, CornishFisherFollowsAGamma) {
  // A sum of 16 exponentials: skewness 1/2, excess kurtosis 3/8.
  const Distribution gamma = Distribution::MakeGamma(16, 0.25);
  const ScoreLaw law = ScoreLaw::FromCumulants({16, 16, 32, 96});
  const double sd = 4;
  for (double z = -3; z <= 3.001; z += 0.25) {
    EXPECT_NEAR(law.At(z), gamma.Quantile(NormalCdf(z)), 0.02 * sd) << z;
  }
}

// The cubic of each turns back somewhere beyond four deviations.
TEST(ScoreLaw, CornishFisherNeverFallsAndKeepsItsBody) {
  const Cumulants kTurning[] = {{0, 1, 0.4, -0.3},
                                {0, 1, -0.4, -0.3},
                                {0, 1, 0, -0.5},
                                {0, 1, 0.45, 0},
                                {0, 1, 0, 0.9}};
  for (const Cumulants& cumulants : kTurning) {
    const ScoreLaw law = ScoreLaw::FromCumulants(cumulants);
    for (double z = -8; z < 8; z += 0.0625) {
      EXPECT_LE(law.At(z), law.At(z + 0.0625));
    }
    const Cumulants own = law.ComputeCumulants();
    EXPECT_NEAR(own[0], 0, 0.01);
    EXPECT_NEAR(own[1], 1, 0.04);
    EXPECT_NEAR(own[2], cumulants[2], 0.1);
  }
}

TEST(ScoreLaw, ScoreOfInvertsAt) {
  const ScoreLaw law = ScoreLaw::Of(Distribution::MakeGamma(1, 0.7));
  for (double z = -5; z <= 5; z += 0.37) {
    EXPECT_NEAR(law.ScoreOf(law.At(z)), z, 1e-9);
  }
  EXPECT_EQ(law.ScoreOf(0), -ScoreLaw::kEnd);
  EXPECT_EQ(law.ScoreOf(1e9), ScoreLaw::kEnd);
}

TEST(ScoreLaw, ScalesAndShifts) {
  const ScoreLaw law = ScoreLaw::Of(Distribution::MakeNormal(10, 1));
  EXPECT_DOUBLE_EQ(law.ScaledBy(3).At(1), 33);
  EXPECT_DOUBLE_EQ(law.ShiftedBy(-4).At(1), 7);
}

TEST(ScoreLaw, ConstantHasNoSpread) {
  const ScoreLaw law = ScoreLaw::Of(Distribution::MakeConstant(3));
  EXPECT_EQ(law.MaximumOf(100).At(4), 3);
  EXPECT_EQ(law.ComputeCumulants(), (Cumulants{3, 0, 0, 0}));
}

TEST(ScoreOfOneAmong, IsTheRootOfTheProbability) {
  for (const double count : {2.0, 64.0, 131072.0}) {
    for (double z = -3; z <= 3; z += 0.5) {
      const double one = ScoreOfOneAmong(count, z);
      EXPECT_NEAR(count * LogNormalCdf(one), LogNormalCdf(z),
                  1e-6 * -LogNormalCdf(z));
    }
  }
}

TEST(LogNormalCdf, IsAccurateFarOut) {
  EXPECT_NEAR(LogNormalCdf(0), std::log(0.5), 1e-15);
  EXPECT_NEAR(LogNormalCdf(-29), -424.78742, 1e-4);
  EXPECT_NEAR(LogNormalCdf(-40), -804.60844, 1e-3);
  EXPECT_NEAR(LogNormalCdf(8) / -6.2209606e-16, 1, 1e-6);
}

TEST(ScoreLaw, MaximumOfShiftedCopiesHasTheProduct) {
  const ScoreLaw law = ScoreLaw::Of(Distribution::MakeNormal(10, 1));
  const double offsets[] = {0, 0.5, 0.5, 2};
  const ScoreLaw all[] = {law, law.ShiftedBy(0.5), law.ShiftedBy(0.5),
                          law.ShiftedBy(2)};
  const ScoreLaw shifted = law.MaximumOfShifted(offsets);
  const ScoreLaw of_all = ScoreLaw::MaximumOfAll(all);
  for (double z = -3; z <= 4; z += 0.5) {
    const double x = shifted.At(z);
    double log_p = 0;
    for (const double offset : offsets) log_p += LogNormalCdf(x - 10 - offset);
    EXPECT_NEAR(log_p, LogNormalCdf(z), 0.01 * std::abs(LogNormalCdf(z)) + 1e-6)
        << z;
    EXPECT_NEAR(of_all.At(z), x, 5e-3) << z;
  }
}

TEST(ScoreLaw, LogCdfIsThatOfTheLaw) {
  const ScoreLaw law = ScoreLaw::Of(Distribution::MakeLognormal(1, 0.3));
  for (double z = -4; z <= 5; z += 0.3) {
    EXPECT_NEAR(law.LogCdfAt(law.At(z)), LogNormalCdf(z),
                0.02 * std::abs(LogNormalCdf(z)))
        << z;
  }
}

// The quantile is tabulated at every fourth node and interpolated.
TEST(ScoreLaw, GammasKeepTheirQuantiles) {
  for (const double cv : {0.05, 0.3, 1.0, 2.0}) {
    const Distribution gamma = Distribution::MakeGamma(1, cv);
    const ScoreLaw law = ScoreLaw::Of(gamma);
    for (double z = -3; z <= 4; z += 1.0 / 16) {
      const double exact = gamma.Quantile(stats::NormalCdf(z));
      EXPECT_NEAR(law.At(z), exact, 1e-3 * exact + 1e-6) << cv << " " << z;
    }
  }
}

// A law of few values, which jumps from one to the next between two nodes,
// wherever that is. Of `copies` the k-th shortest of n is the latest with
// probability (k / n)^copies - ((k - 1) / n)^copies.
TEST(ScoreLaw, LatestOfMeasuredDrawsHasTheirMoments) {
  for (const int slow : {1, 3, 10, 23, 40, 61, 80, 95}) {
    constexpr int kDraws = 100;
    std::vector<double> draws(kDraws, 8.0);
    std::fill(draws.end() - slow, draws.end(), 9.5);
    const ScoreLaw law = ScoreLaw::Of(Distribution::MakeEmpirical(draws));
    for (const double copies : {1.0, 2.0, 8.0}) {
      const double late = 1 - std::pow(1 - slow / double{kDraws}, copies);
      const Cumulants cumulants = law.MaximumOf(copies).ComputeCumulants();
      EXPECT_NEAR(cumulants[0], 8 + 1.5 * late, 2.5e-3)
          << slow << " " << copies;
      EXPECT_NEAR(cumulants[1], 1.5 * 1.5 * late * (1 - late), 0.03 * 1.5 * 1.5)
          << slow << " " << copies;
    }
  }
}

}  // namespace
}  // namespace prism::step
