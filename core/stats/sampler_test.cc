#include "core/stats/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace prism::stats {
namespace {

std::vector<double> DrawAt(const Distribution& d, std::vector<double> u) {
  const size_t n = u.size();
  u.resize(RowSize(n), 0.5);
  std::vector<double> out(RowSize(n));
  Sampler::Scratch scratch;
  Sampler(d).Draw(u.data(), n, scratch, out.data());
  out.resize(n);
  return out;
}

struct Case {
  std::string name;
  Distribution distribution;
};

class SamplerTest : public testing::TestWithParam<Case> {};

TEST_P(SamplerTest, DrawIsTheQuantileOfItsUniform) {
  const std::vector<double> u = {1e-9, 1e-4, 0.01,     0.3,     0.5,
                                 0.7,  0.99, 1 - 1e-4, 1 - 1e-9};
  const std::vector<double> x = DrawAt(GetParam().distribution, u);
  for (size_t i = 0; i < u.size(); ++i) {
    const double q = GetParam().distribution.Quantile(u[i]);
    EXPECT_NEAR(x[i], q, 1e-6 * q + 1e-300) << "u = " << u[i];
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, SamplerTest,
    testing::Values(Case{"constant", Distribution::MakeConstant(3)},
                    Case{"normal", Distribution::MakeNormal(5, 1)},
                    Case{"cut_normal", Distribution::MakeNormal(1, 2)},
                    Case{"lognormal", Distribution::MakeLognormal(3, 0.5)},
                    Case{"late", Distribution::MakeShiftedExponential(1, 0.5)},
                    Case{"gamma", Distribution::MakeGamma(2, 0.3)},
                    Case{"narrow_gamma", Distribution::MakeGamma(2, 1e-4)},
                    Case{"exponential_gamma", Distribution::MakeGamma(2, 1)},
                    Case{"wide_gamma", Distribution::MakeGamma(2, 5)},
                    Case{"empirical",
                         Distribution::MakeEmpirical({3, 1, 2, 2, 10, 4, 6})}),
    [](const auto& test) { return test.param.name; });

TEST(SamplerTest, MixtureDrawsEachComponentByItsWeight) {
  const Distribution d =
      Distribution::MakeMixture({{0.9, Distribution::MakeLognormal(1, 0.05)},
                                 {0.1, Distribution::MakeLognormal(2.5, 0.3)}});
  const size_t n = 100000;
  std::vector<double> u(n);
  for (size_t i = 0; i < n; ++i) u[i] = (i + 0.5) / n;
  const std::vector<double> x = DrawAt(d, u);
  for (double level : {0.9, 1.0, 1.1, 2.0, 2.5, 3.0}) {
    double below = 0;
    for (double value : x) below += value <= level;
    // A stratified sample: each of the two components misses by at most one.
    EXPECT_NEAR(below / n, d.Cdf(level), 2.0 / n) << level;
  }
}

TEST(SamplerTest, StatedMeanIsThatOfTheDistribution) {
  EXPECT_EQ(Sampler(Distribution::MakeNormal(1, 5)).stated_mean(), 1);
  EXPECT_TRUE(Sampler(Distribution::MakeGamma(1, 0)).is_constant());
}

}  // namespace
}  // namespace prism::stats
