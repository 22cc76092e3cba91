#include "client/render/table.h"

#include <gtest/gtest.h>

namespace prism::render {
namespace {

TEST(TableTest, TheFirstColumnBeginsOnTheLeftTheOthersEndOnTheRight) {
  EXPECT_EQ(Table({{"node", "class", "step"}, {"a1", "0", "104.3%"}}),
            "  node  class    step\n"
            "  a1        0  104.3%\n");
}

TEST(TableTest, ColumnsCanBeginOnTheLeft) {
  EXPECT_EQ(Table({{"a", "long", "c"}, {"b", "x", "long"}}, {1, 2}),
            "  a  long  c\n"
            "  b  x     long\n");
}

TEST(TableTest, NoLineEndsInSpaces) {
  EXPECT_EQ(Table({{"a", ""}, {"b", "c"}}), "  a\n  b  c\n");
}

TEST(TableTest, WidthIsThatOnScreen) {
  EXPECT_EQ(Table({{"µ±", "1"}, {"abc", "2"}}), "  µ±   1\n  abc  2\n");
}

}  // namespace
}  // namespace prism::render
