#include "server/json_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace prism::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::StartsWith;

// What one event leaves in the log of `level`.
std::string Logged(LogLevel level, LogLevel event_level,
                   const LogFields& fields) {
  std::ostringstream stream;
  JsonLog(level, stream).Write(event_level, "started", fields);
  return stream.str();
}

TEST(JsonLogTest, LineIsAnObjectWithTimeLevelAndEvent) {
  EXPECT_THAT(
      Logged(LogLevel::kInfo, LogLevel::kInfo, {}),
      MatchesRegex(
          R"(\{"time":"[-0-9]+T[0-9:]+\.[0-9]+Z","level":"info","event":"started"\})"
          "\n"));
}

TEST(JsonLogTest, FieldsKeepOrderAndType) {
  EXPECT_THAT(Logged(LogLevel::kInfo, LogLevel::kError,
                     {{"b", "text"}, {"a", int64_t{3}}, {"c", 0.5}}),
              EndsWith(R"("b":"text","a":3,"c":0.5})"
                       "\n"));
}

TEST(JsonLogTest, TextIsEscaped) {
  EXPECT_THAT(Logged(LogLevel::kInfo, LogLevel::kInfo, {{"a", "x\"\n{}"}}),
              HasSubstr(R"("a":"x\"\n{}")"));
}

TEST(JsonLogTest, InvalidUtf8IsReplaced) {
  EXPECT_THAT(Logged(LogLevel::kInfo, LogLevel::kInfo, {{"a", "\xff"}}),
              HasSubstr("\"a\":\"\xEF\xBF\xBD\""));
}

TEST(JsonLogTest, LowerLevelsAreDropped) {
  EXPECT_THAT(Logged(LogLevel::kWarning, LogLevel::kInfo, {}), IsEmpty());
  EXPECT_THAT(Logged(LogLevel::kWarning, LogLevel::kError, {}),
              StartsWith("{"));
}

TEST(JsonLogTest, LevelsHaveNames) {
  EXPECT_EQ(ParseLogLevel("debug"), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("info"), LogLevel::kInfo);
  EXPECT_EQ(ParseLogLevel("warning"), LogLevel::kWarning);
  EXPECT_EQ(ParseLogLevel("error"), LogLevel::kError);
}

}  // namespace
}  // namespace prism::server
