#include "core/hardware/path_factors.h"

#include <gtest/gtest.h>

namespace prism::hardware {
namespace {

TEST(PathFactorsTest, HoldInBothDirections) {
  const PathFactors factors({{.from = 1, .to = 4, .slowdown = 1.5}});
  EXPECT_FALSE(factors.empty());
  EXPECT_EQ(factors.Between(1, 4), 1.5);
  EXPECT_EQ(factors.Between(4, 1), 1.5);
}

TEST(PathFactorsTest, OtherPathsAreAsTheFabricSays) {
  const PathFactors factors({{.from = 1, .to = 4, .slowdown = 1.5}});
  EXPECT_EQ(factors.Between(1, 3), 1);
  EXPECT_EQ(factors.Between(4, 4), 1);
}

TEST(PathFactorsTest, FactorsOfOneSayNothing) {
  EXPECT_TRUE(PathFactors({{.from = 0, .to = 1}}).empty());
  EXPECT_TRUE(PathFactors().empty());
}

}  // namespace
}  // namespace prism::hardware
