// PredictStream against a server in this process.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <string>
#include <thread>

#include "tests/integration/server_fixture.h"

namespace prism::testing {
namespace {

using prism::v1::PredictStreamRequest;
using prism::v1::PredictStreamResponse;
using prism::v1::Question;

class PredictStreamTest : public ServerTest {
 protected:
  PredictStreamTest() { StartServer(); }

  void Open() { stream_ = stub_->PredictStream(&context_); }

  void Write(const Question& question) {
    PredictStreamRequest request;
    *request.mutable_question() = question;
    ASSERT_TRUE(stream_->Write(request));
  }

  PredictStreamResponse Read() {
    PredictStreamResponse response;
    EXPECT_TRUE(stream_->Read(&response));
    return response;
  }

  grpc::ClientContext context_;
  std::unique_ptr<
      grpc::ClientReaderWriter<PredictStreamRequest, PredictStreamResponse>>
      stream_;
};

TEST_F(PredictStreamTest, AnswersComeInOrder) {
  Open();
  for (int i = 1; i <= 100; ++i) Write(ProfileQuestion(i));
  stream_->WritesDone();
  std::string last;
  for (int i = 1; i <= 100; ++i) {
    prism::v1::Prediction alone;
    const auto response = Read();
    ASSERT_TRUE(Ask(ProfileQuestion(i), &alone).ok());
    EXPECT_EQ(response.prediction().signature(), alone.signature()) << i;
  }
  EXPECT_TRUE(stream_->Finish().ok());
}

TEST_F(PredictStreamTest, AnswersComeBeforeTheStreamIsClosed) {
  Open();
  for (int i = 0; i < 3; ++i) {
    Write(ProfileQuestion());
    EXPECT_TRUE(Read().has_prediction());
  }
}

TEST_F(PredictStreamTest, EmptyStreamEndsWell) {
  Open();
  stream_->WritesDone();
  EXPECT_TRUE(stream_->Finish().ok());
}

TEST_F(PredictStreamTest, WrongQuestionGivesAnErrorAndTheStreamGoesOn) {
  Open();
  Write(ProfileQuestion(1));
  Question wrong = ProfileQuestion(2);
  wrong.set_samples(1);
  Write(wrong);
  Write(ProfileQuestion(3));
  stream_->WritesDone();
  EXPECT_TRUE(Read().has_prediction());
  const auto error = Read().error();
  EXPECT_EQ(error.code(), grpc::INVALID_ARGUMENT);
  const auto bad = DetailOf<google::rpc::BadRequest>(error);
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->field_violations(0).field(), "question.samples");
  EXPECT_TRUE(Read().has_prediction());
  EXPECT_TRUE(stream_->Finish().ok());
}

TEST_F(PredictStreamTest, SecondQuestionHits) {
  Open();
  Write(ProfileQuestion());
  EXPECT_EQ(Read().prediction().cache(), prism::v1::CACHE_STATUS_MISS);
  Write(ProfileQuestion());
  EXPECT_EQ(Read().prediction().cache(), prism::v1::CACHE_STATUS_HIT);
}

TEST_F(PredictStreamTest, CancelledStreamCancelsItsPredictions) {
  held_ = true;
  Open();
  Write(ProfileQuestion());
  AwaitPredictions(1);
  context_.TryCancel();
  EXPECT_EQ(stream_->Finish().error_code(), grpc::CANCELLED);
  while (cancelled_ < 1) {
  }
}

TEST_F(PredictStreamTest, DrainEndsAnIdleStream) {
  Open();
  Write(ProfileQuestion());
  EXPECT_TRUE(Read().has_prediction());
  server_->Drain();
  EXPECT_EQ(stream_->Finish().error_code(), grpc::UNAVAILABLE);
}

TEST_F(PredictStreamTest, DrainAnswersWhatWasAsked) {
  held_ = true;
  Open();
  Write(ProfileQuestion());
  AwaitPredictions(1);
  std::jthread drain([this] { server_->Drain(); });
  Release();
  EXPECT_TRUE(Read().has_prediction());
  EXPECT_EQ(stream_->Finish().error_code(), grpc::UNAVAILABLE);
}

}  // namespace
}  // namespace prism::testing
