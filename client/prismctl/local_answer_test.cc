#include "client/prismctl/local_answer.h"

#include <absl/time/clock.h>
#include <gtest/gtest.h>

#include "core/query/document.h"

namespace prism::prismctl {
namespace {

constexpr char kProfile[] =
    "forward: [{compute: {lognormal: {mean: 4, cv: 0.1}}}]\n"
    "backward: [{compute: 8}]\n";

query::Question ReadQuestion(uint64_t samples) {
  prism::v1::Question message;
  base::Violations violations;
  query::ReadDocument(kProfile, message.mutable_profile(), violations);
  message.set_samples(samples);
  auto question = query::ReadQuestion(message, "", violations);
  EXPECT_TRUE(violations.empty());
  return *question;
}

prism::v1::Prediction Answer(uint64_t samples = 100) {
  auto prediction = AnswerHere(ReadQuestion(samples), 1, absl::Seconds(60));
  EXPECT_TRUE(prediction.ok()) << prediction.status();
  return *prediction;
}

TEST(LocalAnswerTest, EveryAnswerHasAnIdOfItsOwn) {
  EXPECT_EQ(Answer().prediction_id().size(), 32u);
  EXPECT_NE(Answer().prediction_id(), Answer().prediction_id());
}

TEST(LocalAnswerTest, CarriesTheQuestionsSignature) {
  EXPECT_EQ(Answer(100).signature(),
            query::Signature(query::CanonicalForm(ReadQuestion(100))));
  EXPECT_NE(Answer(200).signature(), Answer(100).signature());
}

TEST(LocalAnswerTest, IsNeverFromACache) {
  EXPECT_EQ(Answer().cache(), prism::v1::CACHE_STATUS_MISS);
}

TEST(LocalAnswerTest, AnExactAnswerHoldsForADay) {
  const int64_t before = absl::ToUnixSeconds(absl::Now());
  const int64_t until = Answer().valid_until().seconds();
  EXPECT_GE(until, before + 24 * 3600);
  EXPECT_LE(until, absl::ToUnixSeconds(absl::Now()) + 24 * 3600);
}

TEST(LocalAnswerTest, WithoutTimeForAHundredSamplesThereIsNoAnswer) {
  EXPECT_EQ(AnswerHere(ReadQuestion(10'000'000), 1, absl::Nanoseconds(1))
                .status()
                .code(),
            absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace prism::prismctl
