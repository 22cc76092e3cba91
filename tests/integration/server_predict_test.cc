// Predict against a server in this process: cache, errors, limits.
#include <absl/time/clock.h>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/integration/server_fixture.h"

namespace prism::testing {
namespace {

using prism::v1::Prediction;
using prism::v1::Question;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PredictTest : public ServerTest {
 protected:
  PredictTest() { StartServer(); }
};

TEST_F(PredictTest, AnswerHasProvenance) {
  Prediction prediction;
  ASSERT_TRUE(Ask(ProfileQuestion(), &prediction).ok());
  EXPECT_EQ(prediction.cache(), prism::v1::CACHE_STATUS_MISS);
  EXPECT_EQ(prediction.nominal_step_seconds(), 2);
  EXPECT_EQ(prediction.signature().size(), 64u);
  EXPECT_NE(prediction.prediction_id(), "");
  EXPECT_GT(prediction.valid_until().seconds(),
            absl::ToUnixSeconds(absl::Now()));
}

TEST_F(PredictTest, IdenticalQuestionHitsUnderANewId) {
  Prediction first, second;
  ASSERT_TRUE(Ask(ProfileQuestion(), &first).ok());
  ASSERT_TRUE(Ask(ProfileQuestion(), &second).ok());
  EXPECT_EQ(second.cache(), prism::v1::CACHE_STATUS_HIT);
  EXPECT_EQ(second.signature(), first.signature());
  EXPECT_NE(second.prediction_id(), first.prediction_id());
  EXPECT_EQ(begun_, 1);
}

TEST_F(PredictTest, RenamedQuestionInAnotherOrderHits) {
  Prediction prediction;
  ASSERT_TRUE(Ask(ProfileQuestion(), &prediction).ok());
  Question same = ProfileQuestion();
  same.mutable_profile()->set_name("another name");
  same.mutable_profile()->mutable_forward(0)->set_name("block");
  auto& slowdown = *same.mutable_profile()->mutable_slowdown();
  slowdown.clear();
  slowdown[2] = 1.25;
  slowdown[1] = 1.5;
  ASSERT_TRUE(Ask(same, &prediction).ok());
  EXPECT_EQ(prediction.cache(), prism::v1::CACHE_STATUS_HIT);
}

TEST_F(PredictTest, OneChangedNumberMisses) {
  Prediction prediction;
  ASSERT_TRUE(Ask(ProfileQuestion(1), &prediction).ok());
  ASSERT_TRUE(Ask(ProfileQuestion(std::nextafter(1, 2)), &prediction).ok());
  EXPECT_EQ(prediction.cache(), prism::v1::CACHE_STATUS_MISS);
}

TEST_F(PredictTest, AnswersComeInTheOrderOfTheQuestions) {
  prism::v1::PredictRequest request;
  std::vector<std::string> signatures;
  for (int i = 1; i <= 20; ++i) {
    *request.add_questions() = ProfileQuestion(i);
    Prediction alone;
    if (i % 3 == 0) {
      ASSERT_TRUE(Ask(ProfileQuestion(i), &alone).ok());
    }
    signatures.push_back(alone.signature());
  }
  grpc::ClientContext context;
  prism::v1::PredictResponse response;
  ASSERT_TRUE(stub_->Predict(&context, request, &response).ok());
  ASSERT_EQ(response.predictions_size(), 20);
  for (int i = 0; i < 20; ++i) {
    if (!signatures[i].empty()) {
      EXPECT_EQ(response.predictions(i).signature(), signatures[i]) << i;
    }
  }
}

TEST_F(PredictTest, TheSameQuestionTwiceInARequestIsComputedOnce) {
  prism::v1::PredictRequest request = RequestOf(ProfileQuestion());
  *request.add_questions() = ProfileQuestion();
  grpc::ClientContext context;
  prism::v1::PredictResponse response;
  ASSERT_TRUE(stub_->Predict(&context, request, &response).ok());
  EXPECT_EQ(begun_, 1);
}

TEST_F(PredictTest, SixtyFourCallersShareOneComputation) {
  held_ = true;
  std::vector<std::unique_ptr<OpenCall>> calls;
  for (int i = 0; i < 64; ++i) calls.push_back(AskLater(ProfileQuestion()));
  while (Metric("prism_requests_in_flight") < 64) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  Release();
  int misses = 0;
  for (const auto& call : calls) {
    call->Wait();
    ASSERT_TRUE(call->status.ok());
    misses +=
        call->response.predictions(0).cache() == prism::v1::CACHE_STATUS_MISS;
  }
  EXPECT_EQ(begun_, 1);
  EXPECT_EQ(misses, 1);
}

TEST_F(PredictTest, EveryViolationOfEveryQuestionIsListed) {
  prism::v1::PredictRequest request = RequestOf(ProfileQuestion());
  auto* wrong = request.add_questions();
  *wrong = ProfileQuestion();
  wrong->set_samples(3);
  wrong->mutable_profile()->mutable_layout()->set_tensor(1 << 30);
  request.add_questions();
  grpc::ClientContext context;
  prism::v1::PredictResponse response;
  const grpc::Status status = stub_->Predict(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  const auto bad = DetailOf<google::rpc::BadRequest>(status);
  ASSERT_TRUE(bad);
  std::string fields;
  for (const auto& violation : bad->field_violations()) {
    fields += violation.field() + "\n";
  }
  EXPECT_THAT(fields,
              AllOf(HasSubstr("questions[1].samples"),
                    HasSubstr("questions[1].profile.layout"),
                    HasSubstr("questions[2]"), Not(HasSubstr("questions[0]"))));
  const auto info = DetailOf<google::rpc::ErrorInfo>(status);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->domain(), "prism.dev");
}

TEST_F(PredictTest, QuestionsAreLimited) {
  for (int count : {0, 257}) {
    prism::v1::PredictRequest request;
    for (int i = 0; i < count; ++i) {
      *request.add_questions() = ProfileQuestion();
    }
    grpc::ClientContext context;
    prism::v1::PredictResponse response;
    EXPECT_EQ(stub_->Predict(&context, request, &response).error_code(),
              grpc::INVALID_ARGUMENT)
        << count;
  }
}

TEST_F(PredictTest, InternalErrorTellsAnIdThatIsInTheLog) {
  failure_ = absl::InternalError("below the floor at 0xbeef");
  Prediction prediction;
  const grpc::Status status = Ask(ProfileQuestion(), &prediction);
  EXPECT_EQ(status.error_code(), grpc::INTERNAL);
  EXPECT_THAT(status.error_message() + status.error_details(),
              Not(HasSubstr("beef")));
  const auto request = DetailOf<google::rpc::RequestInfo>(status);
  ASSERT_TRUE(request);
  server_.reset();
  log_.reset();
  EXPECT_THAT(log_text_.str(),
              AllOf(HasSubstr(request->request_id()), HasSubstr("0xbeef")));
}

TEST_F(PredictTest, ErrorIsNotCached) {
  failure_ = absl::InternalError("broken");
  Prediction prediction;
  EXPECT_FALSE(Ask(ProfileQuestion(), &prediction).ok());
  failure_ = absl::OkStatus();
  EXPECT_TRUE(Ask(ProfileQuestion(), &prediction).ok());
}

TEST_F(PredictTest, CancelledCallFreesItsWorkers) {
  held_ = true;
  auto first = AskLater(ProfileQuestion(1));
  auto second = AskLater(ProfileQuestion(2));
  AwaitPredictions(2);  // both workers are taken
  first.reset();
  second.reset();
  while (cancelled_ < 2) absl::SleepFor(absl::Milliseconds(1));
  Release();
  Prediction prediction;
  EXPECT_TRUE(Ask(ProfileQuestion(3), &prediction).ok());
}

TEST_F(PredictTest, ShortDeadlineGivesAReducedAnswer) {
  held_ = true;
  Prediction prediction;
  ASSERT_TRUE(
      Ask(ProfileQuestion(), &prediction, absl::Milliseconds(500)).ok());
  EXPECT_EQ(prediction.quality(), prism::v1::QUALITY_REDUCED);
}

TEST_F(PredictTest, ReducedAnswerIsNotCached) {
  held_ = true;
  Prediction prediction;
  ASSERT_TRUE(
      Ask(ProfileQuestion(), &prediction, absl::Milliseconds(500)).ok());
  Release();
  ASSERT_TRUE(Ask(ProfileQuestion(), &prediction).ok());
  EXPECT_EQ(prediction.quality(), prism::v1::QUALITY_EXACT);
  EXPECT_EQ(prediction.cache(), prism::v1::CACHE_STATUS_MISS);
}

TEST_F(PredictTest, TooLargeAMessageIsRefused) {
  Question question = ProfileQuestion();
  question.mutable_profile()->set_name(std::string(5 << 20, 'x'));
  Prediction prediction;
  EXPECT_EQ(Ask(question, &prediction).error_code(), grpc::RESOURCE_EXHAUSTED);
}

class FullQueueTest : public ServerTest {
 protected:
  FullQueueTest() {
    StartServer({{"workers", "1"}, {"queue_limit", "1"}});
    held_ = true;
    running_ = AskLater(ProfileQuestion(1));
    AwaitPredictions(1);
    queued_ = AskLater(ProfileQuestion(2));
    while (Metric("prism_queue_depth") < 1) {
      absl::SleepFor(absl::Milliseconds(1));
    }
  }

  ~FullQueueTest() override { Release(); }

  std::unique_ptr<OpenCall> running_;
  std::unique_ptr<OpenCall> queued_;
};

TEST_F(FullQueueTest, SheddingReturnsRetryInfo) {
  Prediction prediction;
  const grpc::Status status = Ask(ProfileQuestion(3), &prediction);
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(status));
  EXPECT_TRUE(DetailOf<google::rpc::QuotaFailure>(status));
}

TEST_F(FullQueueTest, SheddingPushesBack) {
  grpc::ClientContext context;
  prism::v1::PredictResponse response;
  EXPECT_FALSE(
      stub_->Predict(&context, RequestOf(ProfileQuestion(3)), &response).ok());
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto pushback = trailers.find("grpc-retry-pushback-ms");
  ASSERT_NE(pushback, trailers.end());
  EXPECT_GT(
      std::stoi(std::string(pushback->second.data(), pushback->second.size())),
      0);
}

TEST_F(FullQueueTest, SheddingIsCounted) {
  Prediction prediction;
  EXPECT_FALSE(Ask(ProfileQuestion(3), &prediction).ok());
  EXPECT_EQ(Metric("prism_requests_shed_total{reason=\"queue_full\"}"), 1);
}

TEST_F(FullQueueTest, RequestThatHalfFitsLeavesNothingBehind) {
  queued_.reset();
  while (Metric("prism_queue_depth") > 0) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  prism::v1::PredictRequest request = RequestOf(ProfileQuestion(3));
  *request.add_questions() = ProfileQuestion(4);
  grpc::ClientContext context;
  prism::v1::PredictResponse response;
  EXPECT_EQ(stub_->Predict(&context, request, &response).error_code(),
            grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Metric("prism_queue_depth"), 0);
}

}  // namespace
}  // namespace prism::testing
