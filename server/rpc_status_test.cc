#include "server/rpc_status.h"

#include <gmock/gmock.h>
#include <google/rpc/error_details.pb.h>
#include <gtest/gtest.h>

#include <string>

namespace prism::server {
namespace {

using testing::HasSubstr;
using testing::Not;

// The detail of type Message in what a client would get.
template <typename Message>
std::optional<Message> WireDetail(const absl::Status& status) {
  google::rpc::Status rpc;
  EXPECT_TRUE(rpc.ParseFromString(ToGrpcStatus(status).error_details()));
  Message message;
  for (const auto& any : rpc.details()) {
    if (any.Is<Message>() && any.UnpackTo(&message)) return message;
  }
  return std::nullopt;
}

struct MappingCase {
  absl::StatusCode in;
  grpc::StatusCode out;
};

class MappingTest : public testing::TestWithParam<MappingCase> {};

TEST_P(MappingTest, CodeReachesTheCallerAs) {
  const absl::Status status(GetParam().in, "told to the log");
  const absl::Status open = PublicStatus(status, "id-1");
  EXPECT_EQ(ToGrpcStatus(open).error_code(), GetParam().out);
  EXPECT_EQ(ToRpcStatus(open).code(), static_cast<int>(GetParam().out));
}

INSTANTIATE_TEST_SUITE_P(
    AllCodes, MappingTest,
    testing::Values(
        MappingCase{absl::StatusCode::kOk, grpc::OK},
        MappingCase{absl::StatusCode::kCancelled, grpc::CANCELLED},
        MappingCase{absl::StatusCode::kUnknown, grpc::INTERNAL},
        MappingCase{absl::StatusCode::kInvalidArgument, grpc::INVALID_ARGUMENT},
        MappingCase{absl::StatusCode::kDeadlineExceeded,
                    grpc::DEADLINE_EXCEEDED},
        MappingCase{absl::StatusCode::kNotFound, grpc::NOT_FOUND},
        MappingCase{absl::StatusCode::kAlreadyExists, grpc::INTERNAL},
        MappingCase{absl::StatusCode::kPermissionDenied, grpc::INTERNAL},
        MappingCase{absl::StatusCode::kResourceExhausted,
                    grpc::RESOURCE_EXHAUSTED},
        MappingCase{absl::StatusCode::kFailedPrecondition,
                    grpc::FAILED_PRECONDITION},
        MappingCase{absl::StatusCode::kAborted, grpc::ABORTED},
        MappingCase{absl::StatusCode::kOutOfRange, grpc::INTERNAL},
        MappingCase{absl::StatusCode::kUnimplemented, grpc::UNIMPLEMENTED},
        MappingCase{absl::StatusCode::kInternal, grpc::INTERNAL},
        MappingCase{absl::StatusCode::kUnavailable, grpc::UNAVAILABLE},
        MappingCase{absl::StatusCode::kDataLoss, grpc::INTERNAL},
        MappingCase{absl::StatusCode::kUnauthenticated, grpc::INTERNAL}),
    [](const auto& test) { return absl::StatusCodeToString(test.param.in); });

base::Violations TwoViolations() {
  base::Violations violations;
  violations.Add("questions[0].samples", "is 3; must be at least 100");
  violations.Add("questions[1].job", "is missing");
  return violations;
}

TEST(RpcStatusTest, BadRequestListsEveryViolation) {
  const auto detail = WireDetail<google::rpc::BadRequest>(
      PublicStatus(BadRequestError(TwoViolations()), "id"));
  ASSERT_TRUE(detail);
  ASSERT_EQ(detail->field_violations_size(), 2);
  EXPECT_EQ(detail->field_violations(0).field(), "questions[0].samples");
  EXPECT_EQ(detail->field_violations(1).description(), "is missing");
}

TEST(RpcStatusTest, BadRequestMessageNamesTheFirstAndCountsTheRest) {
  EXPECT_EQ(BadRequestError(TwoViolations()).message(),
            "questions[0].samples is 3; must be at least 100 (and 1 more)");
}

TEST(RpcStatusTest, QueueFullSaysWhenToComeBack) {
  const absl::Status status = QueueFullError(absl::Milliseconds(2500));
  const auto retry = WireDetail<google::rpc::RetryInfo>(status);
  ASSERT_TRUE(retry);
  EXPECT_EQ(retry->retry_delay().seconds(), 2);
  EXPECT_EQ(retry->retry_delay().nanos(), 500000000);
  EXPECT_EQ(RetryPushback(status), "2500");
}

TEST(RpcStatusTest, QueueFullNamesTheQuota) {
  const auto quota =
      WireDetail<google::rpc::QuotaFailure>(QueueFullError(absl::Seconds(1)));
  ASSERT_TRUE(quota);
  EXPECT_EQ(quota->violations(0).subject(), "queue");
}

TEST(RpcStatusTest, OtherErrorsDoNotPushBack) {
  EXPECT_EQ(RetryPushback(DrainingError()), std::nullopt);
}

TEST(RpcStatusTest, EveryErrorHasAReasonInOurDomain) {
  for (const absl::Status& status :
       {BadRequestError(TwoViolations()), MalformedError("X"), DrainingError(),
        DeadlineError(), QueueFullError(absl::Seconds(1)),
        ClusterNotFoundError("a"), EtagError("a", "e"), NoDataFolderError(),
        absl::NotFoundError("x"), absl::DataLossError("x")}) {
    const auto info =
        WireDetail<google::rpc::ErrorInfo>(PublicStatus(status, "id"));
    ASSERT_TRUE(info) << status;
    EXPECT_EQ(info->domain(), kErrorDomain);
    EXPECT_NE(info->reason(), "");
  }
}

TEST(RpcStatusTest, InternalErrorTellsTheIdAndNothingElse) {
  const absl::Status open =
      PublicStatus(absl::InternalError("secret pointer 0xdead"), "id-77");
  EXPECT_THAT(std::string(open.message()), HasSubstr("id-77"));
  EXPECT_THAT(ToGrpcStatus(open).error_details(), Not(HasSubstr("secret")));
  EXPECT_THAT(std::string(open.message()), Not(HasSubstr("secret")));
  EXPECT_EQ(WireDetail<google::rpc::RequestInfo>(open)->request_id(), "id-77");
}

TEST(RpcStatusTest, OkHasNoDetails) {
  EXPECT_EQ(ToGrpcStatus(absl::OkStatus()).error_details(), "");
}

}  // namespace
}  // namespace prism::server
