#include "client/render/terminal.h"

#include <gtest/gtest.h>

namespace prism::render {
namespace {

TerminalSurroundings ColourTerminal() {
  return {.is_terminal = true,
          .window_columns = 100,
          .locale = "C.UTF-8",
          .no_colour = false,
          .term = "xterm-256color"};
}

TEST(TerminalTest, TakesTheWidthOfTheWindow) {
  EXPECT_EQ(Capabilities(ColourTerminal()).columns, 100);
}

TEST(TerminalTest, KeepsWidthWithinReadableLimits) {
  TerminalSurroundings narrow = ColourTerminal();
  narrow.window_columns = 7;
  EXPECT_EQ(Capabilities(narrow).columns, kLeastColumns);
  TerminalSurroundings wide = ColourTerminal();
  wide.window_columns = 400;
  EXPECT_EQ(Capabilities(wide).columns, kMostColumns);
}

TEST(TerminalTest, AFileIs80ColumnsWideWithoutColour) {
  TerminalSurroundings file = ColourTerminal();
  file.is_terminal = false;
  EXPECT_EQ(Capabilities(file).columns, 80);
  EXPECT_FALSE(Capabilities(file).colour);
}

TEST(TerminalTest, ColoursATerminal) {
  EXPECT_TRUE(Capabilities(ColourTerminal()).colour);
}

TEST(TerminalTest, NoColorTurnsColourOff) {
  TerminalSurroundings plain = ColourTerminal();
  plain.no_colour = true;
  EXPECT_FALSE(Capabilities(plain).colour);
}

TEST(TerminalTest, ADumbTerminalHasNoColour) {
  TerminalSurroundings dumb = ColourTerminal();
  dumb.term = "dumb";
  EXPECT_FALSE(Capabilities(dumb).colour);
}

struct LocaleCase {
  const char* locale;
  bool utf8;
};

TEST(TerminalTest, BlockCharactersFollowTheLocale) {
  for (const LocaleCase& c : {LocaleCase{"de_DE.UTF-8", true},
                              {"en_US.utf8", true},
                              {"C", false},
                              {"POSIX", false},
                              {"", false},
                              {"de_DE.ISO-8859-1", false}}) {
    TerminalSurroundings surroundings;
    surroundings.locale = c.locale;
    EXPECT_EQ(Capabilities(surroundings).utf8, c.utf8) << c.locale;
  }
}

}  // namespace
}  // namespace prism::render
