#include "client/import/launch_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prism::import {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

LaunchOptions Collect(const std::string& text) {
  base::Violations violations;
  const Script script = ParseScript(text);
  const Settings settings = Settings::Parse({}, violations);
  return LaunchOptions::Collect(
      script.statements, ShellVariables(script.statements, {}, settings));
}

std::vector<std::string> ValuesOf(const LaunchOptions& options,
                                  const std::string& name) {
  const LaunchOption* option = options.Find(name);
  return option == nullptr ? std::vector<std::string>{"missing"}
                           : option->values;
}

TEST(LaunchOptionsTest, CollectsFromListsStringsAndCommands) {
  const LaunchOptions options = Collect(
      "A=( --a 1 )\nB=\" --b 2 \\\n --flag \"\ntorchrun --c=3 train.py "
      "${A[@]}");
  EXPECT_THAT(options.Names(), ElementsAre("a", "b", "flag", "c"));
  EXPECT_THAT(ValuesOf(options, "a"), ElementsAre("1"));
  EXPECT_THAT(ValuesOf(options, "flag"), IsEmpty());
  EXPECT_THAT(ValuesOf(options, "c"), ElementsAre("3", "train.py"));
}

TEST(LaunchOptionsTest, ReadsOptionsQuotedWithTheirValues) {
  const LaunchOptions options = Collect("L=(\n \"--split '99,1,0'\"\n)");
  EXPECT_THAT(ValuesOf(options, "split"), ElementsAre("99,1,0"));
}

TEST(LaunchOptionsTest, TakesTheLastOfOneName) {
  const LaunchOptions options = Collect("A=(--x 1)\nB=(--x 2)");
  EXPECT_THAT(ValuesOf(options, "x"), ElementsAre("2"));
  EXPECT_THAT(options.Repeated(), ElementsAre("x"));
}

TEST(LaunchOptionsTest, JoinsListsOfOneName) {
  const LaunchOptions options = Collect("A=(--x 1)\nA=(--y 2)");
  EXPECT_THAT(options.Names(), ElementsAre("x", "y"));
}

TEST(LaunchOptionsTest, DoesNotCallUseOfAVariableARepetition) {
  EXPECT_THAT(Collect("A=(--x 1)\nrun ${A[@]}").Repeated(), IsEmpty());
}

TEST(LaunchOptionsTest, OverridesOptions) {
  LaunchOptions options = Collect("A=(--x 1 --flag)");
  options.Override("x", "7");
  options.Override("flag", "false");
  EXPECT_THAT(ValuesOf(options, "x"), ElementsAre("7"));
  EXPECT_EQ(options.Find("flag"), nullptr);
}

TEST(LaunchOptionsTest, NamesVariablesThatMayHoldOptions) {
  const LaunchOptions options = Collect("A=\"$EXTRA --x $X $MORE\"");
  EXPECT_THAT(options.strays(), ElementsAre("EXTRA", "MORE"));
}

TEST(LaunchOptionsTest, FindsNoOptionInOtherWords) {
  EXPECT_THAT(Collect("A=\"-x -- --- --- x--y\"").Names(), IsEmpty());
}

}  // namespace
}  // namespace prism::import
