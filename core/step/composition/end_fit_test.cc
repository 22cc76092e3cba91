#include "core/step/composition/end_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "core/stats/normal.h"

namespace prism::step {
namespace {

constexpr int kSamples = 1 << 14;

// `quantile` at random scores, each followed by its mirror image.
std::vector<float> SampleOf(const std::function<double(double)>& quantile,
                            int samples = kSamples, unsigned seed = 1) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> score;
  std::vector<float> ends;
  for (int i = 0; i < samples / 2; ++i) {
    const double z = score(generator);
    ends.push_back(static_cast<float>(quantile(z)));
    ends.push_back(static_cast<float>(quantile(-z)));
  }
  return ends;
}

double LawAt(const EndFit& fit, double z) {
  return fit.mean() + fit.deviation() * fit.shape().At(z);
}

double Normal(double z) { return 3 + 0.5 * z; }

// Two humps 20 deviations apart.
double TwoHumps(double z) { return z < 0 ? -10 + z : 10 + z; }

double Exponential(double z) { return -std::log(stats::NormalCdf(-z)); }

TEST(EndFit, NormalSampleGivesTheNormal) {
  const EndFit fit(SampleOf(Normal));
  for (double z = -4; z <= 4; z += 0.5) {
    EXPECT_NEAR(LawAt(fit, z), Normal(z), 4 * fit.ErrorAt(z) + 0.01) << z;
    EXPECT_EQ(fit.MisfitAt(z), 0) << z;
  }
}

// Whatever the number of samples is a multiple of.
TEST(EndFit, MomentsAreThoseOfTheSample) {
  for (const int samples : {2, 30, 64, 4098}) {
    const std::vector<float> ends = SampleOf(Normal, samples);
    double sum = 0, squares = 0;
    for (const float x : ends) sum += static_cast<double>(x);
    const double mean = sum / samples;
    for (const float x : ends) squares += std::pow(double(x) - mean, 2);
    const EndFit fit(ends);
    EXPECT_NEAR(fit.mean(), mean, 1e-5) << samples;
    EXPECT_NEAR(fit.deviation(), std::sqrt(squares / (samples - 1)), 1e-5)
        << samples;
  }
}

// `count` random scores, and what `quantile` makes of each and its negative.
struct Controlled {
  Controlled(const std::function<double(double)>& quantile, int count,
             unsigned seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<float> normal;
    for (int i = 0; i < count; ++i) {
      score.push_back(normal(generator));
      const auto z = static_cast<double>(score.back());
      ends.push_back(static_cast<float>(quantile(z)));
      ends.push_back(static_cast<float>(quantile(-z)));
    }
  }

  std::vector<float> score, ends;
};

// Where the control tells all, chance is gone: the moments are the law's own.
TEST(EndFit, MomentsAreTheLawsWhereTheControlTellsAll) {
  for (const int replicas : {50, 200, 1001}) {
    const Controlled sample(Normal, replicas, 7);
    const EndControl control(sample.score);
    const EndFit fit(sample.ends, &control);
    EXPECT_NEAR(fit.mean(), 3, 1e-5) << replicas;
    // The factor of n over n - 1 is all that is left.
    EXPECT_NEAR(fit.deviation(), 0.5, 0.3 / replicas) << replicas;
    EXPECT_LT(fit.ErrorAt(3), 0.05 * EndFit(sample.ends).ErrorAt(3));
  }
}

// A control that has nothing to do with the ends takes nothing out: what it
// puts in is of the order of 1 / n.
TEST(EndFit, StrangeControlsLeaveTheMoments) {
  const Controlled sample(Normal, kSamples / 2, 7);
  const Controlled other(Normal, kSamples / 2, 8);
  const EndControl control(other.score);
  const EndFit fit(sample.ends, &control), plain(sample.ends);
  EXPECT_NEAR(fit.mean(), plain.mean(), 10.0 / kSamples);
  EXPECT_NEAR(fit.deviation(), plain.deviation(), 10.0 / kSamples);
  EXPECT_NEAR(fit.ErrorAt(3), plain.ErrorAt(3), 0.05 * plain.ErrorAt(3));
}

// Ends that rise with the control, bend with it, and scatter without it, the
// same for mirror images: their skewness is surer where the bend is known.
TEST(EndFit, KnownCurvatureMakesTheTailSurer) {
  constexpr double kBend = 0.1;
  EndControl::Curvature curvature;
  curvature.fill(2 * kBend);  // E[(z^2 - 1) kBend (z^2 - 1)]
  double plain = 0, known = 0, plain_squares = 0, known_squares = 0;
  constexpr int kSeeds = 40;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Controlled sample([](double z) { return z + kBend * (z * z - 1); }, 2000,
                      seed);
    std::mt19937_64 generator(seed + 1000);
    std::normal_distribution<float> scatter(0, 0.5f);
    for (size_t i = 0; i < sample.ends.size(); i += 2) {
      const float own = scatter(generator);
      sample.ends[i] += own;
      sample.ends[i + 1] += own;
    }
    const EndControl control(sample.score);
    const double without = LawAt(EndFit(sample.ends, &control), 3);
    const double with = LawAt(EndFit(sample.ends, &control, &curvature), 3);
    plain += without / kSeeds;
    known += with / kSeeds;
    plain_squares += without * without / kSeeds;
    known_squares += with * with / kSeeds;
  }
  const double plain_variance = plain_squares - plain * plain;
  const double known_variance = known_squares - known * known;
  EXPECT_LT(known_variance, 0.6 * plain_variance);
  EXPECT_NEAR(known, plain, 4 * std::sqrt(plain_variance / kSeeds));
}

// Without chance in the control there is nothing to take out.
TEST(EndFit, ConstantControlsLeaveTheMoments) {
  const Controlled sample(Normal, 100, 7);
  const EndControl control(std::vector<float>(100, 0.0f));
  EXPECT_EQ(EndFit(sample.ends, &control).deviation(),
            EndFit(sample.ends).deviation());
}

TEST(EndFit, ConstantsHaveNoSpread) {
  const EndFit fit(std::vector<float>(100, 2.5f));
  EXPECT_EQ(fit.deviation(), 0);
  EXPECT_EQ(LawAt(fit, 3), 2.5);
  EXPECT_EQ(fit.ErrorAt(3), 0);
  EXPECT_EQ(fit.MisfitAt(3), 0);
}

// A mean of n normals is off by 1 / sqrt(n) deviations; mirror images cancel it
// altogether, and deviations have 1 / sqrt(2 n), n / 2 of which are free.
TEST(EndFit, ErrorIsThatOfTheDeviation) {
  double mean = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    mean += EndFit(SampleOf(Normal, kSamples, seed)).ErrorAt(2) / 20;
  }
  // At score 2, where mirrored errors of the third moment cancel as well.
  EXPECT_NEAR(mean, 0.5 * 2 / std::sqrt(kSamples), 0.2 / std::sqrt(kSamples));
}

// No two moments describe this law; the sample does.
TEST(EndFit, FollowsTheSampleWhereItIsDense) {
  const EndFit fit(SampleOf(TwoHumps));
  for (const double z : {-2.0, -1.0, -0.5, 0.5, 1.0, 2.0}) {
    EXPECT_NEAR(LawAt(fit, z), TwoHumps(z), 0.2) << z;
    EXPECT_EQ(fit.MisfitAt(z), 0) << z;
  }
}

TEST(EndFit, SaysWhenItCannotTellTheTail) {
  for (const auto& law : {Exponential, TwoHumps}) {
    const EndFit fit(SampleOf(law));
    EXPECT_GT(fit.MisfitAt(4.2), 0.1 * std::abs(law(4.2) - law(3.2)));
  }
}

}  // namespace
}  // namespace prism::step
