#include "server/request_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace prism::server {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RequestLogTest : public testing::Test {
 protected:
  void Write(const RequestRecord& record) { log_->Write(record); }

  RequestRecord Success(absl::Time end, const std::string& id = "id") {
    id_ = id;
    RequestRecord record;
    record.method = "Predict";
    record.prediction_id = id_;
    record.cache = prism::v1::CACHE_STATUS_HIT;
    record.quality = prism::v1::QUALITY_EXACT;
    record.questions = 1;
    record.latency_seconds = 0.01;
    record.end = end;
    return record;
  }

  std::string Text() {
    json_.reset();
    return stream_.str();
  }

  std::string id_;
  std::ostringstream stream_;
  std::unique_ptr<JsonLog> json_ =
      std::make_unique<JsonLog>(LogLevel::kInfo, stream_);
  std::unique_ptr<RequestLog> log_ = std::make_unique<RequestLog>(
      RequestLogOptions{.successes_per_second = 1, .slow_seconds = 1}, *json_);
};

constexpr absl::Time kNow = absl::UnixEpoch();

TEST_F(RequestLogTest, WritesWordsOfDocuments) {
  Write(Success(kNow));
  EXPECT_THAT(Text(), HasSubstr(R"("cache":"HIT","quality":"EXACT")"));
}

TEST_F(RequestLogTest, SecondSuccessOfASecondIsLeftOut) {
  Write(Success(kNow, "one"));
  Write(Success(kNow, "two"));
  EXPECT_THAT(Text(), Not(HasSubstr("two")));
}

TEST_F(RequestLogTest, NextSecondLogsAgainAndCountsWhatWasLeftOut) {
  Write(Success(kNow, "one"));
  Write(Success(kNow, "two"));
  Write(Success(kNow, "three"));
  Write(Success(kNow + absl::Seconds(1), "four"));
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("four"));
  EXPECT_THAT(text, HasSubstr(R"("left_out":2)"));
}

TEST_F(RequestLogTest, SlowSuccessIsAlwaysLoggedAsAWarning) {
  Write(Success(kNow));
  RequestRecord slow = Success(kNow, "snail");
  slow.latency_seconds = 1;
  Write(slow);
  EXPECT_THAT(
      Text(),
      HasSubstr(
          R"("level":"warning","event":"request","method":"Predict","prediction_id":"snail")"));
}

TEST_F(RequestLogTest, FailuresAreAlwaysLogged) {
  for (const char* id : {"one", "two", "three"}) {
    RequestRecord failure = Success(kNow, id);
    failure.status = absl::InvalidArgumentError("wrong");
    Write(failure);
  }
  EXPECT_THAT(Text(), HasSubstr("three"));
}

TEST_F(RequestLogTest, OurFaultsAreErrors) {
  RequestRecord failure = Success(kNow);
  failure.status = absl::InternalError("broken");
  Write(failure);
  EXPECT_THAT(Text(), HasSubstr(R"("level":"error")"));
}

}  // namespace
}  // namespace prism::server
