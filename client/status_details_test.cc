#include "client/status_details.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace prism::client {
namespace {

using base::Violation;
using ::testing::ElementsAre;

constexpr int kInvalidArgument = 3;
constexpr int kResourceExhausted = 8;

std::string Details(const google::protobuf::Message& detail) {
  google::rpc::Status status;
  status.add_details()->PackFrom(detail);
  return status.SerializeAsString();
}

std::string TwoViolations() {
  google::rpc::BadRequest bad_request;
  for (const char* field : {"questions[0].job.model.layers", "questions[1]"}) {
    auto* violation = bad_request.add_field_violations();
    violation->set_field(field);
    violation->set_description("is wrong");
  }
  return Details(bad_request);
}

TEST(StatusDetailsTest, KeepsCodeAndMessage) {
  const absl::Status status = StatusWithDetails(14, "draining", "");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "draining");
}

TEST(StatusDetailsTest, DecodesEveryViolationInOrder) {
  const absl::Status status =
      StatusWithDetails(kInvalidArgument, "", TwoViolations());
  EXPECT_THAT(
      ViolationsOf(status).list(),
      ElementsAre(Violation{"questions[0].job.model.layers", "is wrong"},
                  Violation{"questions[1]", "is wrong"}));
}

TEST(StatusDetailsTest, NoDetailsNoViolations) {
  const absl::Status status = StatusWithDetails(kInvalidArgument, "bad", "");
  EXPECT_TRUE(ViolationsOf(status).empty());
}

TEST(StatusDetailsTest, IgnoresDetailsThatDoNotParse) {
  const absl::Status status =
      StatusWithDetails(kInvalidArgument, "bad", "\xff\xff\xff");
  EXPECT_EQ(status, absl::InvalidArgumentError("bad"));
}

TEST(StatusDetailsTest, DecodesTheRetryDelay) {
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(2);
  info.mutable_retry_delay()->set_nanos(500'000'000);
  EXPECT_EQ(RetryDelayOf(
                StatusWithDetails(kResourceExhausted, "full", Details(info))),
            absl::Milliseconds(2500));
}

TEST(StatusDetailsTest, NoRetryInfoNoDelay) {
  EXPECT_EQ(
      RetryDelayOf(StatusWithDetails(kResourceExhausted, "", TwoViolations())),
      std::nullopt);
}

}  // namespace
}  // namespace prism::client
