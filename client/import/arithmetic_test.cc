#include "client/import/arithmetic.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace prism::import {
namespace {

TEST(ArithmeticTest, EvaluatesAsAShellDoes) {
  const std::vector<std::pair<std::string, int64_t>> cases = {
      {"1", 1},
      {" 2 * 3 + 4 ", 10},
      {"2+3*4", 14},
      {"(2+3)*4", 20},
      {"7/2", 3},
      {"-7/2", -3},
      {"7%4", 3},
      {"- - 3", 3},
      {"+5", 5},
      {"10-4-3", 3},
      {"((8))", 8},
      {"64/8/2", 4},
      {"220_000_000", 220'000'000},
  };
  for (const auto& [text, value] : cases)
    EXPECT_EQ(EvaluateArithmetic(text), value) << text;
}

TEST(ArithmeticTest, RejectsWhatHasNoValue) {
  for (const std::string text :
       {"", "1/0", "1%0", "1+", "(1", "1)", "a", "1 2", "2**3", "1<2",
        "9223372036854775807+1", "9223372036854775808"}) {
    EXPECT_FALSE(EvaluateArithmetic(text).has_value()) << text;
  }
}

TEST(ArithmeticTest, RejectsNestingWithoutEnd) {
  EXPECT_FALSE(EvaluateArithmetic(std::string(100'000, '(')).has_value());
  EXPECT_FALSE(EvaluateArithmetic(std::string(100'000, '-')).has_value());
}

TEST(ArithmeticTest, ReadsIntegers) {
  EXPECT_EQ(ParseInteger("220_000_000"), 220'000'000);
  EXPECT_EQ(ParseInteger("-3"), -3);
  for (const std::string text :
       {"", "_1", "1_", "1__0", "1.5", "1e3", "x", " 1", "-", "0x10"}) {
    EXPECT_FALSE(ParseInteger(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace prism::import
