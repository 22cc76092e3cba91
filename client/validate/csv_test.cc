#include "client/validate/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prism::validate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Problems(const base::Violations& wrong) {
  std::vector<std::string> lines;
  for (const base::Violation& violation : wrong.list()) {
    lines.push_back(violation.field + ": " + violation.description);
  }
  return lines;
}

struct Table {
  std::vector<std::string> texts;
  std::vector<uint32_t> counts;
  std::vector<std::string> problems;
};

// Reads the columns "name" and "layers".
Table Read(const std::string& text) {
  Table table;
  base::Violations wrong;
  ForEachRow(
      "t.csv", text, {"name", "layers"},
      [&](CsvRow& row) {
        const std::string name = row.Text("name");
        const uint32_t layers = row.Count("layers");
        if (!row.ok()) return;
        table.texts.push_back(name);
        table.counts.push_back(layers);
      },
      wrong);
  table.problems = Problems(wrong);
  return table;
}

TEST(CsvTest, QuotesHoldCommasQuotesAndLineEnds) {
  const Table table =
      Read("name,layers\n\"a, \"\"b\"\"\nc\",2\n\n plain , 3.0 \r\n");
  EXPECT_THAT(table.texts, ElementsAre("a, \"b\"\nc", "plain"));
  EXPECT_THAT(table.counts, ElementsAre(2, 3));
  EXPECT_THAT(table.problems, IsEmpty());
}

TEST(CsvTest, DamagedRowsAreNamedAndTheOthersRead) {
  const Table table = Read(
      "name,layers\n"
      "a,0\n"
      "b,1.5\n"
      "c,\n"
      "d\n"
      "e,nan\n"
      "f,99999999999\n"
      "good,7\n"
      "g,1,2\n");
  EXPECT_THAT(table.texts, ElementsAre("good"));
  const std::string count = "; must be a whole number from 1 to 4294967295";
  EXPECT_THAT(table.problems,
              ElementsAre("t.csv:2: layers: is \"0\"" + count,
                          "t.csv:3: layers: is \"1.5\"" + count,
                          "t.csv:4: layers: is missing",
                          "t.csv:5: row: has 1 cells; must have 2",
                          "t.csv:6: layers: is \"nan\"" + count,
                          "t.csv:7: layers: is \"99999999999\"" + count,
                          "t.csv:9: row: has 3 cells; must have 2"));
}

TEST(CsvTest, LinesAreCountedThroughQuotedLineEnds) {
  const Table table = Read("name,layers\n\"a\nb\nc\",1\nd,-1\n");
  EXPECT_THAT(table.problems,
              ElementsAre("t.csv:5: layers: is \"-1\"; must be a whole number "
                          "from 1 to 4294967295"));
}

TEST(CsvTest, ATableWithoutAColumnHasNoRows) {
  const Table table = Read("name,depth\na,1\n");
  EXPECT_THAT(table.texts, IsEmpty());
  EXPECT_THAT(table.problems, ElementsAre("t.csv:1: lacks the columns layers"));
}

TEST(CsvTest, AnEmptyFileAndAHeadingAloneHaveNoRows) {
  EXPECT_THAT(Read("").problems,
              ElementsAre("t.csv:1: lacks the columns name, layers"));
  EXPECT_THAT(Read("name,layers\n").problems, IsEmpty());
  EXPECT_THAT(Read("name,layers").problems, IsEmpty());
}

TEST(CsvRowTest, GettersAcceptWhatTheySayAndNothingElse) {
  const std::vector<std::string> heading = {"flag", "time", "blank"};
  struct Case {
    std::string flag;
    std::string time;
    bool ok;
  };
  for (const Case& c :
       {Case{"0", "1e-3", true}, Case{"True", "7", true},
        Case{"false", "0.5", true}, Case{"2", "1", false},
        Case{"1", "0", false}, Case{"1", "-1", false}, Case{"1", "inf", false},
        Case{"1", "x", false}, Case{"", "1", false}, Case{"1", "", false}}) {
    const std::vector<std::string> cells = {c.flag, c.time, ""};
    CsvRow row(heading, cells, "t.csv:2");
    row.Flag("flag");
    row.Positive("time");
    EXPECT_EQ(row.ok(), c.ok) << c.flag << ", " << c.time;
  }
}

TEST(CsvRowTest, BlankCellsAndMissingColumnsTakeTheFallback) {
  const std::vector<std::string> heading = {"a", "blank"};
  const std::vector<std::string> cells = {"4", ""};
  CsvRow row(heading, cells, "t.csv:2");
  EXPECT_EQ(row.CountOr("a", 9), 4);
  EXPECT_EQ(row.CountOr("blank", 9), 9);
  EXPECT_EQ(row.CountOr("none", 9), 9);
  EXPECT_EQ(row.TextOr("blank", "word"), "word");
  EXPECT_FALSE(row.Has("blank"));
  EXPECT_TRUE(row.ok());
}

}  // namespace
}  // namespace prism::validate
