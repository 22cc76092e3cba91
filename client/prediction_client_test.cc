#include "client/prediction_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace prism::client {
namespace {

using google::protobuf::MessageLite;
using prism::v1::PredictResponse;
using prism::v1::Question;
using ::testing::ElementsAre;
using ::testing::SizeIs;

using Outcome = std::variant<PredictResponse, Failure>;

// What happened, shared with the client's own fakes.
struct Record {
  absl::Time now = absl::UnixEpoch();
  std::vector<absl::Duration> sleeps;
  std::vector<absl::Duration> timeouts;
};

class FakeClock final : public Clock {
 public:
  explicit FakeClock(Record& record) : record_(record) {}

  absl::Time Now() override { return record_.now; }
  void Sleep(absl::Duration duration) override {
    record_.sleeps.push_back(duration);
    record_.now += duration;
  }

 private:
  Record& record_;
};

// Gives the outcomes of a script in order, and the last one from then on.
class FakeTransport final : public Transport {
 public:
  FakeTransport(Record& record, std::vector<Outcome> script)
      : record_(record), script_(std::move(script)) {}

  std::optional<Failure> Call(const std::string& method, const MessageLite&,
                              absl::Duration timeout,
                              MessageLite& response) override {
    EXPECT_EQ(method, "/prism.v1.PredictionService/Predict");
    const size_t at = std::min(record_.timeouts.size(), script_.size() - 1);
    record_.timeouts.push_back(timeout);
    if (const auto* failure = std::get_if<Failure>(&script_[at])) {
      return *failure;
    }
    response.CheckTypeAndMergeFrom(std::get<PredictResponse>(script_[at]));
    return std::nullopt;
  }

 private:
  Record& record_;
  std::vector<Outcome> script_;
};

PredictionClient MakeClient(Record& record, std::vector<Outcome> script) {
  return PredictionClient(std::make_unique<Connection>(
      std::make_unique<FakeTransport>(record, std::move(script)),
      std::make_unique<FakeClock>(record), RetryOptions(), [] { return 0.5; }));
}

PredictResponse Answers(std::vector<std::string> ids) {
  PredictResponse response;
  for (std::string& id : ids) {
    response.add_predictions()->set_prediction_id(std::move(id));
  }
  return response;
}

Failure Unavailable() { return {absl::UnavailableError("down"), {}}; }

TEST(PredictionClientTest, GivesTheAnswer) {
  Record record;
  auto client = MakeClient(record, {Answers({"a"})});
  const auto prediction = client.Predict(Question(), absl::Seconds(1));
  ASSERT_TRUE(prediction.ok()) << prediction.status();
  EXPECT_EQ(prediction->prediction_id(), "a");
}

TEST(PredictionClientTest, GivesManyAnswersInOrder) {
  Record record;
  auto client = MakeClient(record, {Answers({"a", "b"})});
  const auto predictions =
      client.Predict(std::vector<Question>(2), absl::Seconds(1));
  ASSERT_TRUE(predictions.ok()) << predictions.status();
  ASSERT_THAT(*predictions, SizeIs(2));
  EXPECT_EQ((*predictions)[1].prediction_id(), "b");
}

TEST(PredictionClientTest, AnswersThatDoNotMatchTheQuestionsAreAnError) {
  Record record;
  auto client = MakeClient(record, {Answers({})});
  EXPECT_EQ(client.Predict(Question(), absl::Seconds(1)).status().code(),
            absl::StatusCode::kInternal);
}

TEST(PredictionClientTest, RetriesUntilTheServerIsBack) {
  Record record;
  auto client =
      MakeClient(record, {Unavailable(), Unavailable(), Answers({"a"})});
  EXPECT_TRUE(client.Predict(Question(), absl::Seconds(10)).ok());
  EXPECT_THAT(record.sleeps,
              ElementsAre(absl::Milliseconds(100), absl::Milliseconds(200)));
}

TEST(PredictionClientTest, EachAttemptGetsWhatIsLeftOfTheTimeout) {
  Record record;
  auto client = MakeClient(record, {Unavailable(), Answers({"a"})});
  EXPECT_TRUE(client.Predict(Question(), absl::Seconds(1)).ok());
  EXPECT_THAT(record.timeouts,
              ElementsAre(absl::Seconds(1), absl::Milliseconds(900)));
}

TEST(PredictionClientTest, GivesTheLastFailureWhenAttemptsRunOut) {
  Record record;
  auto client = MakeClient(record, {Unavailable()});
  EXPECT_EQ(client.Predict(Question(), absl::Seconds(100)).status(),
            absl::UnavailableError("down"));
  EXPECT_THAT(record.timeouts, SizeIs(RetryOptions().most_attempts));
}

TEST(PredictionClientTest, NeverSleepsPastTheDeadline) {
  Record record;
  auto client = MakeClient(record, {Unavailable()});
  EXPECT_FALSE(client.Predict(Question(), absl::Milliseconds(250)).ok());
  EXPECT_THAT(record.sleeps, ElementsAre(absl::Milliseconds(100)));
}

TEST(PredictionClientTest, AWrongQuestionIsAskedOnce) {
  Record record;
  auto client =
      MakeClient(record, {Failure{absl::InvalidArgumentError("bad"), {}}});
  EXPECT_FALSE(client.Predict(Question(), absl::Seconds(10)).ok());
  EXPECT_THAT(record.timeouts, SizeIs(1));
}

TEST(PredictionClientTest, WaitsAsLongAsTheServerPushesBack) {
  Record record;
  auto client = MakeClient(
      record,
      {Failure{absl::UnavailableError("busy"), "1234"}, Answers({"a"})});
  EXPECT_TRUE(client.Predict(Question(), absl::Seconds(10)).ok());
  EXPECT_THAT(record.sleeps, ElementsAre(absl::Milliseconds(1234)));
}

}  // namespace
}  // namespace prism::client
