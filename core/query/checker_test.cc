#include "core/query/checker.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "core/query/limits.h"
#include "core/query/read_distribution.h"
#include "prism/v1/step_profile.pb.h"

namespace prism::query {
namespace {

class CheckerTest : public testing::Test {
 protected:
  std::string Description() const {
    return violations_.empty() ? "" : violations_.list()[0].description;
  }

  base::Violations violations_;
  Checker checker_{violations_};
  FieldPath path_{"field"};
};

TEST_F(CheckerTest, WhatHoldsAddsNothing) {
  EXPECT_EQ(checker_.AtLeast(0, 0, path_), 0);
  EXPECT_EQ(checker_.Above(1e-9, 0, path_), 1e-9);
  EXPECT_EQ(checker_.Between(7, 1, 7, path_), 7);
  EXPECT_EQ(checker_.BetweenOr(0, 5, 1, 7, path_), 5);
  checker_.Divides(4, "four", 8, path_);
  EXPECT_TRUE(checker_.Require(true, path_, "no"));
  EXPECT_EQ(checker_.failures(), 0);
  EXPECT_TRUE(violations_.empty());
}

TEST_F(CheckerTest, BoundsAreNamed) {
  EXPECT_EQ(checker_.AtLeast(-0.5, 0, path_), 1);
  EXPECT_EQ(Description(), "is -0.5; must be at least 0");
  EXPECT_EQ(violations_.list()[0].field, "field");
}

TEST_F(CheckerTest, OpenBoundsAreOpen) {
  checker_.Above(0, 0, path_);
  EXPECT_EQ(Description(), "is 0; must be above 0");
}

TEST_F(CheckerTest, HugeNumbersAreRefused) {
  checker_.Above(1.1e15, 0, path_);
  EXPECT_EQ(Description(), "is 1.1e+15; must be at most 1e+15");
}

TEST_F(CheckerTest, NanIsRefused) {
  checker_.AtLeast(std::numeric_limits<double>::quiet_NaN(), 0, path_);
  EXPECT_EQ(Description(), "is nan; must be a finite number");
}

TEST_F(CheckerTest, AbsentNumbersAreCalledMissing) {
  EXPECT_EQ(checker_.Between(0, 1, 7, path_), 1);
  EXPECT_EQ(Description(), "is missing or 0; must be from 1 to 7");
}

TEST_F(CheckerTest, IntegersBeyondInt64AreRefused) {
  EXPECT_EQ(checker_.Between(UINT64_MAX, 1, 7, path_), 1);
  EXPECT_EQ(checker_.failures(), 1);
}

TEST_F(CheckerTest, DivisorsAreNamed) {
  checker_.Divides(4, "layout.pipeline", 6, path_);
  EXPECT_EQ(Description(),
            "is 6; must be divisible by layout.pipeline, which is 4");
}

TEST_F(CheckerTest, UnknownEnumsGiveTheFirstChoice) {
  const int chosen = checker_.Choose<prism::v1::Sync, int>(
      static_cast<prism::v1::Sync>(9), {{prism::v1::SYNC_NONE, 3}}, path_);
  EXPECT_EQ(chosen, 3);
  EXPECT_EQ(Description(), "is 9; must be one of none");
}

TEST_F(CheckerTest, EnumsThatAreKnownButNotTakenAreNamed) {
  checker_.Choose<prism::v1::Sync, int>(prism::v1::SYNC_DATA,
                                        {{prism::v1::SYNC_UNSPECIFIED, 1},
                                         {prism::v1::SYNC_TENSOR, 2},
                                         {prism::v1::SYNC_NONE, 1}},
                                        path_);
  EXPECT_EQ(Description(), "is data; must be one of none, tensor");
}

TEST_F(CheckerTest, PipelinesAreBoundedPerStageAndInAll) {
  CheckPipelineSize({.stages = 64, .chunks = 1, .microbatches = 65536}, path_,
                    checker_);
  EXPECT_EQ(checker_.failures(), 0);
  CheckPipelineSize({.stages = 65, .chunks = 1, .microbatches = 65536}, path_,
                    checker_);
  EXPECT_EQ(checker_.failures(), 1);
  CheckPipelineSize({.stages = 1, .chunks = 2, .microbatches = 32769}, path_,
                    checker_);
  EXPECT_EQ(checker_.failures(), 2);
}

class ReadDistributionTest : public CheckerTest {
 protected:
  template <typename Kind>
  Kind ReadAs(const prism::v1::Distribution& message) {
    const auto distribution = ReadDistribution(message, path_, checker_);
    EXPECT_EQ(checker_.failures(), 0) << Description();
    EXPECT_TRUE(std::holds_alternative<Kind>(distribution.kind()));
    return std::get<Kind>(distribution.kind());
  }
};

TEST_F(ReadDistributionTest, ParametersArriveWhereTheyBelong) {
  prism::v1::Distribution m;
  m.mutable_normal()->set_mean(2);
  m.mutable_normal()->set_sd(3);
  EXPECT_EQ(ReadAs<stats::Normal>(m).mean, 2);
  EXPECT_EQ(ReadAs<stats::Normal>(m).sd, 3);
  m.mutable_lognormal()->set_mean(4);
  m.mutable_lognormal()->set_cv(5);
  EXPECT_EQ(ReadAs<stats::Lognormal>(m).mean, 4);
  EXPECT_EQ(ReadAs<stats::Lognormal>(m).cv, 5);
  m.mutable_gamma()->set_mean(6);
  m.mutable_gamma()->set_cv(7);
  EXPECT_EQ(ReadAs<stats::Gamma>(m).mean, 6);
  EXPECT_EQ(ReadAs<stats::Gamma>(m).cv, 7);
  m.mutable_shifted_exponential()->set_shift(8);
  m.mutable_shifted_exponential()->set_mean_excess(9);
  EXPECT_EQ(ReadAs<stats::ShiftedExponential>(m).shift, 8);
  EXPECT_EQ(ReadAs<stats::ShiftedExponential>(m).mean_excess, 9);
}

TEST_F(ReadDistributionTest, SamplesAreSorted) {
  prism::v1::Distribution m;
  for (const double x : {3.0, 1.0, 2.0}) {
    m.mutable_empirical()->add_samples(x);
  }
  EXPECT_EQ(*ReadAs<stats::Empirical>(m).sorted_samples,
            (std::vector<double>{1, 2, 3}));
}

TEST_F(ReadDistributionTest, AFactorNeedsAMean) {
  prism::v1::Distribution m;
  m.set_constant(0);
  ReadDistribution(m, path_, checker_);
  EXPECT_EQ(checker_.failures(), 0);
  ReadFactor(m, path_, checker_);
  EXPECT_EQ(checker_.failures(), 1);
}

TEST_F(ReadDistributionTest, AWrongFactorIsReportedOnce) {
  prism::v1::Distribution m;
  m.set_constant(-1);
  ReadFactor(m, path_, checker_);
  EXPECT_EQ(checker_.failures(), 1);
}

}  // namespace
}  // namespace prism::query
