#include "client/import/shell_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace prism::import {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A script with its variables.
class Variables {
 public:
  explicit Variables(const std::string& text,
                     const std::vector<std::string>& settings = {})
      : script_(ParseScript(text)),
        settings_(Settings::Parse(settings, violations_)),
        variables_(script_.statements, {{"SLURM_NNODES", "24"}}, settings_) {}

  const ShellVariables& operator*() const { return variables_; }

  // The expansion of `text`, which must be free of marks.
  std::string Expand(const std::string& text) const {
    Marks marks;
    const std::string value = TakeMarks(variables_.Expand(text), marks);
    EXPECT_TRUE(marks.empty()) << text;
    return value;
  }

  Marks MarksOf(const std::string& text) const {
    Marks marks;
    TakeMarks(variables_.Expand(text), marks);
    return marks;
  }

 private:
  base::Violations violations_;
  Script script_;
  Settings settings_;
  ShellVariables variables_;
};

constexpr char kScript[] =
    "TP=8\n"
    "PP=2\n"
    "NAME=\"big $TP\"\n"
    "EMPTY=\n"
    "NNODES=$SLURM_NNODES\n"
    "GPUS=${GPUS:-8}\n"
    "ARGS=(--a $TP --b 'x y')\n"
    "CHAIN=\"$NAME!\"\n";

TEST(ShellVariablesTest, ExpandsAsAShellDoes) {
  const Variables variables(kScript);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"$TP", "8"},
      {"${TP}x", "8x"},
      {"a$TP-b", "a8-b"},
      {"$CHAIN", "big 8!"},
      {"'$TP'", "$TP"},
      {"\"'$TP'\"", "'8'"},
      {"\\$TP", "$TP"},
      {"$NNODES", "24"},
      {"$GPUS", "8"},
      {"${NONE:-4}", "4"},
      {"${NONE-4}", "4"},
      {"${NONE:=${TP}}", "8"},
      {"${EMPTY:-4}", "4"},
      {"${EMPTY-4}", ""},
      {"${TP:-4}", "8"},
      {"${TP:+set}", "set"},
      {"${NONE:+set}", ""},
      {"${NONE:-\"a b\"}", "a b"},
      {"${1:-one}", "one"},
      {"${ARGS[@]}", "--a 8 --b x y"},
      {"$((TP * $PP + ${TP}))", "24"},
      {"$(( (TP+PP)/2 ))", "5"},
      {"cost$", "cost$"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(variables.Expand(text), expected) << text;
}

TEST(ShellVariablesTest, NamesWhatIsUndefined) {
  const Variables variables("A=$B\nC=\"$A/$D\"");
  EXPECT_THAT(variables.MarksOf("$C").undefined, ElementsAre("B", "D"));
  EXPECT_THAT(variables.MarksOf("$((B + 1))").undefined, ElementsAre("B"));
  EXPECT_THAT(variables.MarksOf("$1").undefined, ElementsAre("$1"));
  EXPECT_THAT(variables.MarksOf("$(date)").undefined, ElementsAre("$(...)"));
  EXPECT_THAT(variables.MarksOf("`date`").undefined, ElementsAre("`...`"));
  EXPECT_THAT(variables.MarksOf("${A%x}").undefined, ElementsAre("${A%x}"));
  EXPECT_THAT(variables.MarksOf("$((1/0))").undefined, ElementsAre("$((1/0))"));
}

TEST(ShellVariablesTest, PutsSettingsFirst) {
  const Variables variables("TP=8\nGPUS=${GPUS:-8}\nX=$NEW",
                            {"TP=4", "GPUS=2", "NEW=1"});
  EXPECT_EQ(variables.Expand("$TP $GPUS $X"), "4 2 1");
}

TEST(ShellVariablesTest, ResolvesNamesAssignedLater) {
  EXPECT_EQ(Variables("ARGS=\"--tp ${TP}\"\nTP=8").Expand("$ARGS"), "--tp 8");
}

TEST(ShellVariablesTest, BuildsOnEarlierValues) {
  EXPECT_EQ(Variables("A=1\nA=\"$A 2\"\nA+=\" 3\"").Expand("$A"), "1 2 3");
  EXPECT_EQ(Variables("L=(--a)\nL+=(--b)").Expand("${L[@]}"), "--a --b");
}

TEST(ShellVariablesTest, FindsValuesThatContradictEachOther) {
  const Variables variables("LEN=1024\nLEN=256\nSAME=1\nSAME=1\nX=$LEN");
  EXPECT_THAT(variables.MarksOf("$X").ambiguous, ElementsAre("LEN"));
  EXPECT_THAT((*variables).Alternatives("LEN"), ElementsAre("1024", "256"));
  EXPECT_THAT(variables.MarksOf("$SAME").ambiguous, IsEmpty());
}

TEST(ShellVariablesTest, FindsNoContradictionInAnEmptyFirstValue) {
  EXPECT_THAT(Variables("A=\nA=1").MarksOf("$A").ambiguous, IsEmpty());
  EXPECT_THAT(Variables("A=1\nA=").MarksOf("$A").ambiguous, ElementsAre("A"));
}

TEST(ShellVariablesTest, FindsNoContradictionWhereASettingDecides) {
  EXPECT_EQ(Variables("A=1\nA=2", {"A=3"}).Expand("$A"), "3");
}

TEST(ShellVariablesTest, EndsWhereNamesGoRound) {
  const Variables variables("A=$B\nB=$A\nC=$C");
  EXPECT_THAT(variables.MarksOf("$A").undefined, ElementsAre("A"));
  EXPECT_THAT(variables.MarksOf("$C").undefined, ElementsAre("C"));
}

TEST(ShellVariablesTest, BoundsWhatNamesUnfoldTo) {
  std::string text = "A0=xxxxxxxxxxxxxxxx\n";
  for (int i = 1; i < 30; ++i) {
    const std::string inner = "$A" + std::to_string(i - 1);
    text += "A" + std::to_string(i) + "=\"" + inner + inner + "\"\n";
  }
  EXPECT_LE((*Variables(text)).Expand("$A29").size(),
            ShellVariables::kMostText);
}

TEST(ShellVariablesTest, BoundsHowDeepNamesNest) {
  std::string text = "A0=1\n";
  for (int i = 1; i < 10'000; ++i)
    text += "A" + std::to_string(i) + "=$A" + std::to_string(i - 1) + "\n";
  EXPECT_FALSE(Variables(text).MarksOf("$A9999").undefined.empty());
}

}  // namespace
}  // namespace prism::import
