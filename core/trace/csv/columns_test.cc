#include "core/trace/csv/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prism::trace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Fields = std::vector<std::string_view>;

const Fields kHeading = {"dp_rank", "stage",    "rank",     "step",
                         "optype",  "start_ts", "duration", "seq_id",
                         "mc",      "mb_id",    "gmc"};

std::optional<Columns::Row> ReadRow(const Fields& fields, DamageLog& damage,
                                    std::optional<Sizes> sizes = {}) {
  return Columns::Find(kHeading, &damage)->Read(7, fields, sizes, &damage);
}

TEST(ColumnsTest, ARowBecomesAnOperation) {
  DamageLog damage;
  const auto row = ReadRow({"3", "1", "28", "16", "backward-compute", "2.5",
                            "0.25", "9", "0", "9", "1"},
                           damage);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->step, 16);
  EXPECT_EQ(row->operation, (Operation{.kind = OperationKind::kBackwardCompute,
                                       .chunk = 0,
                                       .replica = 3,
                                       .stage = 1,
                                       .rank = 28,
                                       .virtual_stage = 1,
                                       .microbatch = 9,
                                       .sequence = 9,
                                       .start_seconds = 2.5,
                                       .duration_seconds = 0.25}));
  EXPECT_TRUE(damage.empty());
}

TEST(ColumnsTest, MissingValuesAreNotRecorded) {
  DamageLog damage;
  for (const std::string_view blank : {"", "nan", "<NA>", "-1", "-1.0"}) {
    const auto row = ReadRow(
        {"0", "0", blank, "1", "gc", "0", "0", blank, blank, blank, blank},
        damage);
    ASSERT_TRUE(row) << blank;
    EXPECT_EQ(row->operation.sequence, kNone);
    EXPECT_EQ(row->operation.microbatch, kNone);
    EXPECT_EQ(row->operation.rank, kNone);
  }
}

TEST(ColumnsTest, ColumnsAreFoundByNameInAnyOrder) {
  DamageLog damage;
  const auto columns = Columns::Find(
      Fields{"duration", "optype", "step", "start_ts", "stage", "dp_rank"},
      &damage);
  ASSERT_TRUE(columns.ok());
  const auto row =
      columns->Read(2, Fields{"1", "gc", "5", "2", "3", "4"}, {}, &damage);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->operation.replica, 4);
  EXPECT_EQ(row->operation.stage, 3);
  EXPECT_EQ(row->operation.duration_seconds, 1);
}

TEST(ColumnsTest, UnknownAndSecondColumnsAreIgnoredAloud) {
  DamageLog damage;
  Fields heading = kHeading;
  heading.insert(heading.end(), {"color", "step"});
  ASSERT_TRUE(Columns::Find(heading, &damage).ok());
  ASSERT_EQ(damage.entries().size(), 1);
  EXPECT_EQ(damage.entries()[0].count, 2);
  EXPECT_THAT(Describe(damage.entries()[0]), HasSubstr("\"color\" column ign"));
}

TEST(ColumnsTest, AllMissingColumnsAreNamed) {
  const auto columns =
      Columns::Find(Fields{"dp_rank", "stage", "step"}, nullptr);
  EXPECT_THAT(std::string(columns.status().message()),
              AllOf(HasSubstr("optype, start_ts, duration")));
}

struct Bad {
  Fields fields;
  std::string said;
};

TEST(ColumnsTest, UnusableRowsAreLeftOutAndNamed) {
  const std::vector<Bad> cases = {
      {{"0", "0", "0", "1", "gc", "0"}, "has 6 of 11 fields"},
      {{"4", "0", "0", "1", "gc", "0", "0", "0", "0", "0", "0"},
       "dp_rank \"4\" is no data rank of the job"},
      {{"0", "9", "0", "1", "gc", "0", "0", "0", "0", "0", "0"},
       "stage \"9\" is no stage of the job"},
      {{"0", "x", "0", "1", "gc", "0", "0", "0", "0", "0", "0"},
       "stage \"x\" is not a whole number"},
      {{"0", "0", "0", "-3", "gc", "0", "0", "0", "0", "0", "0"},
       "step \"-3\" is negative"},
      {{"0", "0", "0", "1", "tea", "0", "0", "0", "0", "0", "0"},
       "no kind of operation known here (tea)"},
      {{"0", "0", "0", "1", "gc", "0", "-0.1", "0", "0", "0", "0"},
       "duration \"-0.1\" is negative"},
      {{"0", "0", "0", "1", "gc", "nan", "0", "0", "0", "0", "0"},
       "start_ts \"nan\" is not a number"},
      {{"0", "0", "0", "1", "gc", "1e99", "0", "0", "0", "0", "0"},
       "start_ts \"1e99\" is too large"},
      {{"0", "0", "0", "1", "gc", "0", "0", "1.5", "0", "0", "0"},
       "seq_id \"1.5\" is not a whole number"},
      {{"0", "0", "0", "1", "gc", "0", "0", "0", "99999", "0", "0"},
       "mc \"99999\" is out of range"},
  };
  for (const Bad& bad : cases) {
    DamageLog damage;
    damage.SetFile("t.csv");
    EXPECT_FALSE(ReadRow(bad.fields, damage, Sizes{.data = 4, .pipeline = 4}));
    ASSERT_EQ(damage.entries().size(), 1) << bad.said;
    EXPECT_THAT(Describe(damage.entries()[0]),
                AllOf(HasSubstr("t.csv:7: "), HasSubstr(bad.said)));
  }
}

}  // namespace
}  // namespace prism::trace
