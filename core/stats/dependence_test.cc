#include "core/stats/dependence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace prism::stats {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr size_t kRows = 40, kColumns = 5;

// Values with an effect of each row and one that the value before it leaves.
std::vector<double> Matrix(std::mt19937_64& random, double row_sd,
                           double carried, bool heavy = false) {
  std::normal_distribution<double> normal;
  std::vector<double> values;
  for (size_t r = 0; r < kRows; ++r) {
    const double of_row = row_sd * normal(random);
    double before = 0;
    for (size_t c = 0; c < kColumns; ++c) {
      before = carried * before + normal(random);
      values.push_back(of_row + (heavy ? std::exp(3 * before) : before));
    }
  }
  return values;
}

// How often one of `rounds` independent tests has p below `level`.
int Finds(int rounds, double level, double row_sd, double carried, bool heavy,
          const std::function<TestResult(const Rows&)>& test) {
  std::mt19937_64 random(7);
  int finds = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::vector<double> values = Matrix(random, row_sd, carried, heavy);
    finds += test({values, kRows, kColumns}).p < level;
  }
  return finds;
}

struct Case {
  const char* name;
  std::function<TestResult(const Rows&)> test;
  double row_sd, carried;  // what it is to find
};

std::vector<Case> Cases() {
  return {
      {"row", [](const Rows& m) { return RowEffectTest(m, kRows - 1); }, 1, 0},
      {"group", [](const Rows& m) { return GroupSpreadTest(m, kRows - 1); }, 1,
       0},
      {"neighbour", NeighbourTest, 0, 0.9},
      {"correlation",
       [](const Rows& m) {
         std::vector<double> x, y;
         for (size_t r = 0; r < m.rows; ++r) {
           x.push_back(m.at(r, 0));
           y.push_back(m.at(r, 1));
         }
         return CorrelationTest(x, y, kRows);
       },
       2, 0}};
}

// 1000 tests at a level of 0.05 find 50 on average, more than 78 or fewer
// than 26 with a probability below 1e-4 (four standard deviations). The laws
// hold in the limit, which is allowed another fifth.
TEST(DependenceTest, FindsNothingByChanceMoreOftenThanItsLevelSays) {
  for (const Case& c : Cases()) {
    for (const bool heavy : {false, true}) {
      const int finds = Finds(1000, 0.05, 0, 0, heavy, c.test);
      EXPECT_LE(finds, 88) << c.name << (heavy ? ", heavy tail" : "");
      EXPECT_GE(finds, 16) << c.name << (heavy ? ", heavy tail" : "");
    }
  }
}

TEST(DependenceTest, FindsWhatIsThere) {
  for (const Case& c : Cases()) {
    EXPECT_GE(Finds(100, 1e-3, c.row_sd, c.carried, false, c.test), 95)
        << c.name;
  }
}

TEST(DependenceTest, StrengthOfARowIsTheCorrelationWithinIt) {
  std::mt19937_64 random(3);
  double sum = 0;
  for (int i = 0; i < 50; ++i) {
    const std::vector<double> values = Matrix(random, 1, 0);
    sum += RowEffectTest({values, kRows, kColumns}, kRows - 1).strength / 50;
  }
  // Variance 1 of 2 belongs to the row. Standard error 0.07 / sqrt(50), and
  // scores of columns about their own means bias by about 1 / kRows.
  EXPECT_NEAR(sum, 0.5, 0.06);
}

TEST(DependenceTest, GroupsThatMakeUpForEachOtherAreFoundToo) {
  std::mt19937_64 random(5);
  std::vector<double> values = Matrix(random, 0, 0);
  for (size_t r = 0; r < kRows; ++r) {
    double mean = 0;
    for (size_t c = 0; c < kColumns; ++c)
      mean += values[r * kColumns + c] / kColumns;
    for (size_t c = 0; c < kColumns; ++c) values[r * kColumns + c] -= mean;
  }
  const TestResult result =
      GroupSpreadTest({values, kRows, kColumns}, kRows - 1);
  EXPECT_LT(result.p, 1e-6);
  EXPECT_LT(result.strength, 1);
}

TEST(DependenceTest, EqualValuesShareTheirScore) {
  EXPECT_THAT(NormalScores(std::vector<double>{5, 1, 5}),
              ElementsAre(DoubleNear(0.4307, 1e-4), DoubleNear(-0.9674, 1e-4),
                          DoubleNear(0.4307, 1e-4)));
}

TEST(DependenceTest, WhatNeverDiffersSaysNothing) {
  const std::vector<double> same(kRows * kColumns, 2.0);
  const Rows matrix{same, kRows, kColumns};
  EXPECT_EQ(RowEffectTest(matrix, kRows - 1).p, 1);
  EXPECT_EQ(GroupSpreadTest(matrix, kRows - 1).p, 1);
  EXPECT_EQ(NeighbourTest(matrix).p, 1);
  EXPECT_EQ(CorrelationTest(same, same, kRows).p, 1);
  EXPECT_EQ(ZeroMeanTest(std::vector<double>(9, 0.0)).p, 1);
}

TEST(DependenceTest, ColumnsThatAreAlikeInEveryRowAreCertain) {
  std::vector<double> values;
  for (size_t r = 0; r < kRows; ++r)
    values.insert(values.end(), kColumns, static_cast<double>(r * r));
  const TestResult result = RowEffectTest({values, kRows, kColumns}, kRows - 1);
  EXPECT_EQ(result.p, 0);
  EXPECT_EQ(result.strength, 1);
}

// t = 2 / sqrt(2.5 / 5) with 4 degrees of freedom: p = 0.0474 (tables).
TEST(DependenceTest, MeanIsHeldAgainstStudentsLaw) {
  const TestResult result = ZeroMeanTest(std::vector<double>{0, 1, 2, 3, 4});
  EXPECT_NEAR(result.p, 0.0474, 1e-4);
  EXPECT_EQ(result.strength, 2);
  EXPECT_EQ(ZeroMeanTest(std::vector<double>{3}).p, 1);
}

// (1.9600 + 0.8416)^2 / atanh(0.5)^2 + 3.
TEST(DependenceTest, PairsToDecideFollowFromTheLevel) {
  EXPECT_NEAR(PairsToDecide(0.05), 29.01, 0.01);
  EXPECT_GT(PairsToDecide(1e-4), PairsToDecide(0.05));
}

}  // namespace
}  // namespace prism::stats
