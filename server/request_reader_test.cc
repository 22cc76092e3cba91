#include "server/request_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/query/document.h"
#include "prism/v1/prediction_service.pb.h"
#include "server/predict_request.h"

namespace prism::server {
namespace {

using testing::HasSubstr;

prism::v1::Question Question(const std::string& name = "a") {
  prism::v1::Question question;
  base::Violations violations;
  query::ReadDocument("forward: [{compute: 1}]\nbackward: [{compute: 2}]\n",
                      question.mutable_profile(), violations);
  EXPECT_TRUE(violations.empty());
  question.mutable_profile()->set_name(name);
  return question;
}

std::string Body(const prism::v1::Question& question, int times = 1) {
  prism::v1::PredictRequest request;
  for (int i = 0; i < times; ++i) *request.add_questions() = question;
  return request.SerializeAsString();
}

// Reads only.
Predictor Silent() {
  return [](const query::Question&, const base::Budget&, base::Executor&) {
    return absl::InternalError("not asked");
  };
}

RequestReader Unary(size_t capacity_bytes,
                    const ClusterStore* clusters = nullptr) {
  return {PredictReader(Silent()), capacity_bytes, clusters};
}

RequestReader Streamed(size_t capacity_bytes) {
  return {PredictStreamReader(Silent()), capacity_bytes, nullptr};
}

TEST(RequestReaderTest, BytesThatWereReadAreRecalled) {
  RequestReader reader = Unary(1 << 20);
  const std::string body = Body(Question(), 2);
  EXPECT_EQ(reader.Recall(body), nullptr);
  const auto questions = reader.Read(body);
  ASSERT_TRUE(questions.ok());
  const auto meaning = reader.Recall(body);
  ASSERT_NE(meaning, nullptr);
  ASSERT_EQ(meaning->questions.size(), 2u);
  EXPECT_EQ(meaning->questions[1].key, *questions->at(1).key);
}

TEST(RequestReaderTest, OtherBytesOfTheSameQuestionHaveTheSameKey) {
  RequestReader reader = Unary(1 << 20);
  const auto first = reader.Read(Body(Question("a")));
  const auto second = reader.Read(Body(Question("b")));
  EXPECT_EQ(*first->front().key, *second->front().key);
}

TEST(RequestReaderTest, WrongRequestsAreNotRemembered) {
  RequestReader reader = Unary(1 << 20);
  const std::string body = Body(prism::v1::Question());
  EXPECT_FALSE(reader.Read(body).ok());
  EXPECT_EQ(reader.Recall(body), nullptr);
}

TEST(RequestReaderTest, LargeRequestsAreNotRemembered) {
  RequestReader reader = Unary(1 << 30);
  const std::string body = Body(Question(std::string(100000, 'x')));
  EXPECT_TRUE(reader.Read(body).ok());
  EXPECT_EQ(reader.Recall(body), nullptr);
}

TEST(RequestReaderTest, PathsBeginWithTheFieldOfTheRequest) {
  prism::v1::Question wrong = Question();
  wrong.set_samples(1);
  RequestReader unary = Unary(0);
  EXPECT_THAT(std::string(unary.Read(Body(wrong)).status().message()),
              HasSubstr("questions[0].samples"));
  RequestReader stream = Streamed(0);
  EXPECT_THAT(std::string(stream.Read(Body(wrong)).status().message()),
              HasSubstr("question.samples"));
}

// Field 1 twice is two questions in one message and one, merged, in the other.
TEST(RequestReaderTest, StreamedBodyIsAlwaysOneQuestion) {
  RequestReader reader = Streamed(1 << 20);
  prism::v1::Question question = Question();
  question.mutable_profile()->clear_backward();
  prism::v1::PredictStreamRequest request;
  *request.mutable_question() = Question();
  const std::string body = request.SerializeAsString() + Body(question);
  ASSERT_TRUE(reader.Read(body).ok());
  EXPECT_EQ(reader.Recall(body)->questions.size(), 1u);
}

}  // namespace
}  // namespace prism::server
