// Exact laws of the step, on random cases: the closed forms of
// docs/step-profile.md.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/step/test_support.h"

namespace prism::step {
namespace {

constexpr int kCases = 300;

class Random {
 public:
  int Between(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(generator_);
  }
  double Real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(generator_);
  }

 private:
  std::mt19937_64 generator_{20240607};
};

double NominalMs(const StepProfile& profile) {
  auto nominal = SimulateNominal(BuildGraph(profile));
  EXPECT_TRUE(nominal.ok()) << nominal.status();
  return nominal.ok() ? nominal->seconds * 1e3 : -1;
}

TEST(MakespanTest, PlainSchedulesTakeMicrobatchesPlusStagesLessOne) {
  Random random;
  for (int i = 0; i < kCases; ++i) {
    const int p = random.Between(1, 12), m = random.Between(1, 20);
    const double f = random.Real(0.5, 3), b = random.Real(0.5, 3);
    const double expected = (m + p - 1) * (f + b);
    for (auto schedule :
         {ScheduleKind::kGpipe, ScheduleKind::kOneForwardOneBackward}) {
      EXPECT_NEAR(NominalMs(ConstantProfile(schedule, p, 1, m, f, b)), expected,
                  1e-12 * expected)
          << "p " << p << " m " << m;
    }
  }
}

TEST(MakespanTest, InterleavingDividesTheBubbleByTheChunks) {
  Random random;
  for (int i = 0; i < kCases; ++i) {
    const int p = random.Between(2, 8), v = random.Between(1, 5);
    const int m = p * random.Between(1, 4);
    const double f = random.Real(0.5, 3), b = random.Real(0.5, 3);
    const double expected = m * (f + b) + (p - 1) * (f + b) / v;
    EXPECT_NEAR(
        NominalMs(ConstantProfile(ScheduleKind::kInterleaved, p, v, m, f, b)),
        expected, 1e-12 * expected)
        << "p " << p << " v " << v << " m " << m;
  }
}

TEST(MakespanTest, EverySampleOfAConstantProfileIsTheMakespan) {
  for (auto schedule :
       {ScheduleKind::kGpipe, ScheduleKind::kOneForwardOneBackward,
        ScheduleKind::kInterleaved}) {
    const StepGraph graph =
        BuildGraph(ConstantProfile(schedule, 4, 1, 8, 1, 2));
    EXPECT_NEAR(ConstantSeconds(graph), 11 * 3e-3, 1e-14);
  }
}

// What one stage i that takes 1 + x times as long costs, for m >= p.
double SlowStageCost(ScheduleKind schedule, int p, int m, double f, double b,
                     int i, double x) {
  const double whole = x * (f + b) * m;
  if (schedule == ScheduleKind::kGpipe) return whole;
  return whole - (p - 1 - i) * (std::min(x * f, b) + std::min(x * b, f));
}

void SlowDownStage(StepProfile& profile, int replica, int stage,
                   double factor) {
  for (int tensor = 0; tensor < profile.tensor; ++tensor) {
    const int64_t rank =
        (int64_t{replica} * profile.pipeline + stage) * profile.tensor + tensor;
    profile.slowdown.push_back({rank, factor});
  }
}

class SlowStageTest : public testing::TestWithParam<ScheduleKind> {};

TEST_P(SlowStageTest, CostsWhatTheLawSaysThroughStageScale) {
  Random random;
  for (int n = 0; n < kCases; ++n) {
    const int p = random.Between(1, 8), m = p + random.Between(0, 12);
    const double f = random.Real(0.5, 3), b = random.Real(0.5, 3);
    const double x = random.Real(0.01, 4);
    StepProfile profile = ConstantProfile(GetParam(), p, 1, m, f, b);
    for (int i = 0; i < p; ++i) {
      profile.stage_scale.assign(p, 1);
      profile.stage_scale[i] = 1 + x;
      const double expected =
          (m + p - 1) * (f + b) + SlowStageCost(GetParam(), p, m, f, b, i, x);
      EXPECT_NEAR(NominalMs(profile), expected, 1e-12 * expected)
          << "p " << p << " m " << m << " i " << i << " x " << x;
    }
  }
}

TEST_P(SlowStageTest, CostsTheSameThroughTheRanksOfOneReplica) {
  Random random;
  for (int n = 0; n < kCases; ++n) {
    const int p = random.Between(1, 6), m = p + random.Between(0, 6);
    const double f = random.Real(0.5, 3), b = random.Real(0.5, 3);
    const double x = random.Real(0.01, 4);
    StepProfile profile = ConstantProfile(GetParam(), p, 1, m, f, b);
    profile.data = random.Between(1, 3);
    profile.tensor = random.Between(1, 3);
    for (int i = 0; i < p; ++i) {
      profile.slowdown.clear();
      SlowDownStage(profile, random.Between(0, profile.data - 1), i, 1 + x);
      const double expected =
          (m + p - 1) * (f + b) + SlowStageCost(GetParam(), p, m, f, b, i, x);
      EXPECT_NEAR(NominalMs(profile), expected, 1e-12 * expected)
          << "p " << p << " m " << m << " i " << i << " x " << x;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, SlowStageTest,
                         testing::Values(ScheduleKind::kGpipe,
                                         ScheduleKind::kOneForwardOneBackward),
                         [](const auto& test) {
                           return test.param == ScheduleKind::kGpipe ? "gpipe"
                                                                     : "plain";
                         });

// (31 * 3 + 24) / (31 * 3 + 24 - 15 * 1.5) of F.
TEST(SlowGpuTest, WorstPlaceCosts1238PerMilleOfTheBest) {
  StepProfile profile =
      ConstantProfile(ScheduleKind::kOneForwardOneBackward, 16, 1, 16, 1, 2);
  profile.slowdown = {{15, 1.5}};
  const double worst = NominalMs(profile);
  profile.slowdown = {{0, 1.5}};
  const double best = NominalMs(profile);
  EXPECT_NEAR(worst, 117, 1e-10);
  EXPECT_NEAR(best, 94.5, 1e-10);
  EXPECT_NEAR(worst / best, 1.238, 5e-4);
}

}  // namespace
}  // namespace prism::step
