#include "client/render/wrap.h"

#include <gtest/gtest.h>

namespace prism::render {
namespace {

TEST(WrapTest, BreaksBetweenWords) {
  EXPECT_EQ(Wrap("", "aaa bbb ccc", 7), "aaa bbb\nccc\n");
}

TEST(WrapTest, IndentsTheLinesThatFollow) {
  EXPECT_EQ(Wrap("- ", "aaa bbb", 6), "- aaa\n  bbb\n");
}

TEST(WrapTest, KeepsAWordThatIsTooLong) {
  EXPECT_EQ(Wrap("", "a bbbbbbbb c", 4), "a\nbbbbbbbb\nc\n");
}

TEST(WrapTest, ATabIsASpaceThatHoldsTogether) {
  EXPECT_EQ(Wrap("", "mean 12\tms", 8), "mean\n12 ms\n");
}

}  // namespace
}  // namespace prism::render
