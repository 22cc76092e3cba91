#include "core/trace/csv/csv_trace.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/trace/csv/text_source.h"

namespace prism::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kHeading =
    "dp_rank,stage,step,optype,start_ts,duration,seq_id\n";

std::string Row(int replica, int step, int sequence) {
  return absl::StrCat(replica, ",0,", step, ",gc,", sequence, ".5,1,", sequence,
                      "\n");
}

// Steps 3, 1 and 2 of two replicas; `apart`: replica after replica.
std::string Text(bool apart) {
  std::string text(kHeading);
  std::vector<std::string> second;
  for (const int step : {3, 1, 2}) {
    absl::StrAppend(&text, Row(0, step, 0), Row(0, step, 1));
    if (apart) {
      second.push_back(Row(1, step, 0));
    } else {
      text += Row(1, step, 0);
    }
  }
  for (const std::string& row : second) text += row;
  return text;
}

std::vector<int64_t> Numbers(CsvTrace& trace) {
  std::vector<int64_t> numbers;
  EXPECT_TRUE(trace
                  .ForEach([&](const Step& step) {
                    numbers.push_back(step.number);
                    EXPECT_EQ(step.operations.size(), 3);
                    return absl::OkStatus();
                  })
                  .ok());
  return numbers;
}

TEST(CsvTraceTest, StepsComeInTheOrderOfTheRecording) {
  for (const bool apart : {false, true}) {
    for (const int64_t most_held : {100, 4, 1}) {
      TextSource source(Text(apart), 7);
      DamageLog damage;
      auto trace = CsvTrace::Open(source, {}, damage, most_held);
      ASSERT_TRUE(trace.ok());
      EXPECT_THAT(Numbers(**trace), ElementsAre(3, 1, 2));
      EXPECT_EQ((*trace)->operations(), 9);
      EXPECT_EQ((*trace)->steps(), 3);
      EXPECT_EQ((*trace)->sizes(), (Sizes{.data = 2, .pipeline = 1}));
    }
  }
}

TEST(CsvTraceTest, ALongTraceIsReadAgainAndNotHeld) {
  TextSource source(Text(false));
  DamageLog damage;
  auto trace = CsvTrace::Open(source, {}, damage, 8);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(source.readings(), 1);
  Numbers(**trace);
  Numbers(**trace);
  EXPECT_EQ(source.readings(), 3);
}

TEST(CsvTraceTest, AShortTraceIsReadOnce) {
  TextSource source(Text(true));
  DamageLog damage;
  auto trace = CsvTrace::Open(source, {}, damage, 9);
  ASSERT_TRUE(trace.ok());
  Numbers(**trace);
  EXPECT_EQ(source.readings(), 1);
}

TEST(CsvTraceTest, StepsThatLieApartAreSaid) {
  TextSource source(Text(true));
  DamageLog damage;
  damage.SetFile("t.csv");
  ASSERT_TRUE(CsvTrace::Open(source, Sizes{.data = 2}, damage).ok());
  ASSERT_EQ(damage.entries().size(), 1);
  EXPECT_EQ(damage.entries()[0].line, 8);
  EXPECT_THAT(damage.entries()[0].what, HasSubstr("continues after rows"));
}

TEST(CsvTraceTest, OperationsRecordedTwiceAreSaidOnce) {
  for (const int64_t most_held : {100, 1}) {
    TextSource source(Text(false) + Row(1, 2, 0) + Row(1, 2, 0));
    DamageLog damage;
    auto trace = CsvTrace::Open(source, Sizes{.data = 2}, damage, most_held);
    ASSERT_TRUE(trace.ok());
    EXPECT_THAT(Numbers(**trace), ElementsAre(3, 1, 2));
    Numbers(**trace);
    ASSERT_EQ(damage.entries().size(), 1);
    EXPECT_EQ(damage.entries()[0].count, 2);
  }
}

TEST(CsvTraceTest, ATruncatedRowIsLeftOutAndTheOthersStay) {
  const std::string text = Text(false) + Row(1, 2, 1);
  TextSource source(text.substr(0, text.size() - 4));
  DamageLog damage;
  auto trace = CsvTrace::Open(source, Sizes{.data = 2}, damage);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ((*trace)->operations(), 9);
  ASSERT_EQ(damage.entries().size(), 1);
  EXPECT_EQ(damage.entries()[0].line, 11);
}

TEST(CsvTraceTest, UnknownSizesAreSaid) {
  TextSource source(Text(false));
  DamageLog damage;
  ASSERT_TRUE(CsvTrace::Open(source, {}, damage).ok());
  ASSERT_EQ(damage.entries().size(), 1);
  EXPECT_THAT(damage.entries()[0].what, HasSubstr("taken from the rows"));
}

TEST(CsvTraceTest, NoHeadingIsAnError) {
  for (const char* text : {"", "\n\n", "a,b\n1,2\n"}) {
    TextSource source(text);
    DamageLog damage;
    EXPECT_EQ(CsvTrace::Open(source, {}, damage).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST(CsvTraceTest, ErrorsOfTheVisitEndTheReading) {
  for (const int64_t most_held : {100, 1}) {
    TextSource source(Text(false));
    DamageLog damage;
    auto trace = CsvTrace::Open(source, {}, damage, most_held);
    ASSERT_TRUE(trace.ok());
    int steps = 0;
    const absl::Status status = (*trace)->ForEach([&](const Step&) {
      ++steps;
      return absl::AbortedError("enough");
    });
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
    EXPECT_EQ(steps, 1);
  }
}

}  // namespace
}  // namespace prism::trace
