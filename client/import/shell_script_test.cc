#include "client/import/shell_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace prism::import {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// "NAME=text", "NAME=(text)", "NAME+=text" or ": text" for each statement.
std::vector<std::string> Statements(const std::string& text) {
  std::vector<std::string> shown;
  for (const Statement& statement : ParseScript(text).statements) {
    const std::string value =
        statement.is_list ? "(" + statement.text + ")" : statement.text;
    const std::string sign = statement.appends ? "+=" : "=";
    shown.push_back(statement.is_assignment() ? statement.name + sign + value
                                              : ": " + value);
  }
  return shown;
}

TEST(ShellScriptTest, ReadsStatements) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"", {}},
      {"TP=8", {"TP=8"}},
      {"A=1 B=2 run --x 1", {"A=1", "B=2", ": run --x 1"}},
      {"A=\"x y\"; B='p q'", {"A=\"x y\"", "B='p q'"}},
      {"A=$(date +\"%Y %m\") B=1", {"A=$(date +\"%Y %m\")", "B=1"}},
      {"A=${B:-\"x y\"}\nC=1", {"A=${B:-\"x y\"}", "C=1"}},
      {"A=$((2 * (3 + 4)))", {"A=$((2 * (3 + 4)))"}},
      {"A+=\" more\"", {"A+=\" more\""}},
      {"export A=1\ndeclare -x -i B=2", {"A=1", "B=2"}},
      {"L=(\n  --a 1\n  --b 2\n)", {"L=(\n  --a 1\n  --b 2\n)"}},
      {"L=(--a 1 # not (this)\n)", {"L=(--a 1 \n)"}},
      {"L=()", {"L=()"}},
      {"run \\\n --a 1", {": run   --a 1"}},
      {"# A=1\nB=2 # C=3", {"B=2"}},
      {"A=x#y", {"A=x#y"}},
      {"if [ $A == 1 ]; then TP=4; else TP=8; fi",
       {": if [ $A == 1 ]", "TP=4", "TP=8", ": fi"}},
      {"case $S in\n big) TP=8;;\nesac",
       {": case $S in", ": big", "TP=8", ": esac"}},
      {"[ $A ] && TP=4", {": [ $A ] ", "TP=4"}},
      {"1A=2", {": 1A=2"}},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(Statements(text), expected) << text;
}

TEST(ShellScriptTest, ReadsSlurmDirectives) {
  const Script script = ParseScript(
      "#SBATCH --nodes=24\n#SBATCH --time 100:00:00   # limit\n"
      "#SBATCH --exclusive\n#SBATCH -C v100\n# SBATCH --nodes=1\n");
  EXPECT_THAT(script.directives,
              ElementsAre(Pair("nodes", "24"), Pair("time", "100:00:00"),
                          Pair("exclusive", "")));
}

TEST(ShellScriptTest, KeepsTextInDoubleQuotesOverLines) {
  EXPECT_THAT(Statements("A=\" \\\n  --x 'a|b' \\\n\"\nB=1"),
              ElementsAre("A=\"    --x 'a|b'  \"", "B=1"));
}

TEST(ShellScriptTest, ReadsLineByLineWhereQuotesDoNotEnd) {
  EXPECT_THAT(Statements("A=\"x\nTP=8\n"), ElementsAre("A=x", "TP=8"));
}

TEST(ShellScriptTest, ReadsLineByLineWhereAListDoesNotEnd) {
  EXPECT_THAT(Statements("L=(\n--a 1\nTP=8"),
              ElementsAre("L=()", ": --a 1", "TP=8"));
}

TEST(ShellScriptTest, ReadsTheRestOfAListThatEndedEarly) {
  EXPECT_THAT(Statements("L=()\n    \"--a 1\"\n)\nTP=8"),
              ElementsAre("L=()", ": \"--a 1\"", "TP=8"));
}

TEST(ShellScriptTest, SkipsHereDocuments) {
  EXPECT_THAT(Statements("cat <<'EOT' > ds.json\n{\"it's\": 1}\nEOT\nTP=8"),
              ElementsAre(": cat <<'EOT' > ds.json", "TP=8"));
}

TEST(ShellScriptTest, ReadsOnAfterAHereDocumentWithoutEnd) {
  EXPECT_THAT(Statements("cat <<EOT\nTP=8"),
              ElementsAre(": cat <<EOT", "TP=8"));
}

TEST(ShellScriptTest, KnowsVariableNames) {
  EXPECT_TRUE(IsVariableName("GPUS_PER_NODE"));
  EXPECT_TRUE(IsVariableName("_x1"));
  for (const char* name : {"", "1X", "a-b", "a b", "$1"})
    EXPECT_FALSE(IsVariableName(name)) << name;
}

TEST(ShellScriptTest, HoldsNoControlCharacters) {
  const Script script = ParseScript(std::string("A=x\x01y\x02\x03z\r\n"));
  ASSERT_EQ(script.statements.size(), 2u);
  EXPECT_EQ(script.statements[0].text, "x");
}

}  // namespace
}  // namespace prism::import
