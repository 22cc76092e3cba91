#include "core/estimate/overlap.h"

#include <gtest/gtest.h>

namespace prism::estimate {
namespace {

constexpr calibration::OverlapCosts kFree = {.contention = 0};

TEST(BesideProductsTest, AShareStaysOfWhatTheyAreLongEnoughFor) {
  EXPECT_DOUBLE_EQ(BesideProducts({2, 0.5}, 4, 0.25).seconds, 0.5);
  EXPECT_DOUBLE_EQ(BesideProducts({2, 0.5}, 4, 0.25).latency_seconds, 0.125);
  // One second finds nothing beside it.
  EXPECT_DOUBLE_EQ(BesideProducts({2, 0.5}, 1, 0.25).seconds, 1.25);
  EXPECT_EQ(BesideProducts({2, 0.5}, 4, 1).seconds, 2);
  EXPECT_EQ(BesideProducts({0, 0}, 4, 0.25).seconds, 0);
}

TEST(BesideComputeTest, WhatComputationIsTooShortForStays) {
  const Traffic traffic = {.time = {4, 0}, .link_seconds = 1};
  EXPECT_DOUBLE_EQ(BesideCompute(traffic, 3, 0, kFree).seconds, 1);
  EXPECT_DOUBLE_EQ(BesideCompute(traffic, 9, 0, kFree).seconds, 0);
  // A quarter finds nothing to hide behind.
  EXPECT_DOUBLE_EQ(BesideCompute(traffic, 9, 0.25, kFree).seconds, 1);
  EXPECT_DOUBLE_EQ(BesideCompute(traffic, 0, 0.25, kFree).seconds, 4);
}

TEST(BesideComputeTest, HiddenTrafficTakesFromComputation) {
  const calibration::OverlapCosts costs = {.contention = 0.5,
                                           .link_share = 0.5};
  // A second at full rate is two at half of it; computation loses half.
  const Traffic traffic = {.time = {4, 0}, .link_seconds = 1};
  EXPECT_DOUBLE_EQ(BesideCompute(traffic, 9, 0, costs).seconds, 1);
  // As long as there is computation.
  EXPECT_DOUBLE_EQ(BesideCompute(traffic, 1, 0, costs).seconds, 3);
}

TEST(BesideComputeTest, IsNoWorseThanOneAfterTheOther) {
  const calibration::OverlapCosts costs = {.contention = 2, .link_share = 0.5};
  const Traffic traffic = {.time = {1, 0}, .link_seconds = 1};
  EXPECT_DOUBLE_EQ(BesideCompute(traffic, 9, 0, costs).seconds, 1);
}

}  // namespace
}  // namespace prism::estimate
