#include "client/render/bars.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prism::render {
namespace {

using ::testing::ElementsAre;

TEST(BarsTest, ABarIsAnEighthOfACharacterFine) {
  EXPECT_EQ(Bar(0.5, 5, true), "██▌");
}

TEST(BarsTest, AnAsciiBarHasWholeCharacters) {
  EXPECT_EQ(Bar(0.5, 6, false), "###");
}

TEST(BarsTest, SharesBeyondTheBarAreCut) {
  EXPECT_EQ(Bar(1.7, 3, false), "###");
  EXPECT_EQ(Bar(-1, 3, false), "");
}

TEST(BarsTest, AStackedBarFillsItsWidth) {
  EXPECT_EQ(StackedBar({0.5, 0.25}, 8, false), "####==..");
}

TEST(BarsTest, ASmallPartStaysVisible) {
  EXPECT_EQ(StackedBar({0.5, 0.001}, 8, false), "####=...");
}

TEST(BarsTest, PartsThatOverflowKeepTheWidth) {
  EXPECT_EQ(DisplayWidth(StackedBar({0.9, 0.8, 0.1}, 10, true)), 10);
}

TEST(BarsTest, ColumnsStandOnTheLastLine) {
  EXPECT_THAT(Columns({0, 0.25, 0.5, 1}, 2, true), ElementsAre("   █", " ▄██"));
}

TEST(BarsTest, ATinyHeightStillShows) {
  EXPECT_THAT(Columns({0.0001}, 1, true), ElementsAre("▁"));
}

TEST(BarsTest, AsciiColumnsUseAsciiOnly) {
  EXPECT_THAT(Columns({0.25, 1}, 2, false), ElementsAre(" #", ":#"));
}

TEST(BarsTest, WidthCountsCharactersNotBytes) {
  EXPECT_EQ(DisplayWidth("█▌x"), 3);
}

TEST(BarsTest, PaddingCountsCharactersNotBytes) {
  EXPECT_EQ(PadRight("█", 3), "█  ");
  EXPECT_EQ(PadLeft("█", 3), "  █");
}

TEST(BarsTest, TextWiderThanThePaddingIsKept) {
  EXPECT_EQ(PadRight("abcd", 2), "abcd");
}

}  // namespace
}  // namespace prism::render
