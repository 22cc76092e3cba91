#include "client/retry_policy.h"

#include <gtest/gtest.h>

#include <string>

#include "client/status_details.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace prism::client {
namespace {

const absl::Duration kLong = absl::Hours(1);
constexpr double kMiddle = 0.5;

Failure Unavailable() { return {absl::UnavailableError("down"), {}}; }

Failure Pushback(const std::string& value) {
  return {absl::UnavailableError("down"), value};
}

Failure ExhaustedWithRetryInfo(int seconds) {
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(seconds);
  google::rpc::Status details;
  details.add_details()->PackFrom(info);
  return {StatusWithDetails(8, "full", details.SerializeAsString()), {}};
}

RetryPolicy Policy() { return RetryPolicy(RetryOptions()); }

TEST(RetryPolicyTest, DelaysGrowUpToTheLongest) {
  const RetryPolicy policy({.most_attempts = 20});
  for (auto [attempts, milliseconds] :
       {std::pair{1, 100}, {2, 200}, {3, 400}, {6, 3200}, {7, 5000}}) {
    EXPECT_EQ(policy.Delay(Unavailable(), attempts, kLong, kMiddle),
              absl::Milliseconds(milliseconds))
        << attempts;
  }
}

TEST(RetryPolicyTest, JitterSpreadsDelaysByAFifth) {
  EXPECT_EQ(Policy().Delay(Unavailable(), 1, kLong, 0), absl::Milliseconds(80));
  EXPECT_EQ(Policy().Delay(Unavailable(), 1, kLong, 1),
            absl::Milliseconds(120));
}

TEST(RetryPolicyTest, GivesUpAfterTheLastAttempt) {
  EXPECT_TRUE(Policy().Delay(Unavailable(), 4, kLong, kMiddle).has_value());
  EXPECT_FALSE(Policy().Delay(Unavailable(), 5, kLong, kMiddle).has_value());
}

TEST(RetryPolicyTest, NeverWaitsUpToTheDeadline) {
  EXPECT_FALSE(Policy()
                   .Delay(Unavailable(), 1, absl::Milliseconds(100), kMiddle)
                   .has_value());
}

TEST(RetryPolicyTest, OtherFailuresAreFinal) {
  for (const absl::Status& status :
       {absl::InvalidArgumentError(""), absl::DeadlineExceededError(""),
        absl::InternalError(""), absl::CancelledError(""),
        absl::UnimplementedError(""), absl::UnknownError("")}) {
    EXPECT_FALSE(Policy().Delay({status, {}}, 1, kLong, kMiddle).has_value())
        << status;
  }
}

TEST(RetryPolicyTest, ExhaustionWithoutRetryInfoIsFinal) {
  EXPECT_FALSE(
      Policy()
          .Delay({absl::ResourceExhaustedError("full"), {}}, 1, kLong, kMiddle)
          .has_value());
}

TEST(RetryPolicyTest, ExhaustionWaitsAsLongAsTheServerSays) {
  EXPECT_EQ(Policy().Delay(ExhaustedWithRetryInfo(7), 1, kLong, 0),
            absl::Seconds(7));
}

TEST(RetryPolicyTest, PushbackReplacesTheDelay) {
  EXPECT_EQ(Policy().Delay(Pushback("1500"), 1, kLong, 0),
            absl::Milliseconds(1500));
}

TEST(RetryPolicyTest, PushbackThatIsNegativeOrUnreadableForbidsTheRetry) {
  for (const char* value : {"-1", "soon", "", "99999999999"}) {
    EXPECT_FALSE(Policy().Delay(Pushback(value), 1, kLong, 0).has_value())
        << value;
  }
}

TEST(RetryPolicyTest, PushbackDoesNotMakeAFinalFailureRetryable) {
  EXPECT_FALSE(Policy()
                   .Delay({absl::InternalError(""), "10"}, 1, kLong, kMiddle)
                   .has_value());
}

}  // namespace
}  // namespace prism::client
