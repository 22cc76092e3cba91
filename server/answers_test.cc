#include "server/answers.h"

#include <absl/time/clock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace prism::server {
namespace {

using prism::v1::CACHE_STATUS_COALESCED;
using prism::v1::CACHE_STATUS_HIT;
using prism::v1::CACHE_STATUS_MISS;
using prism::v1::Prediction;
using prism::v1::QUALITY_EXACT;
using prism::v1::QUALITY_REDUCED;

using Result = absl::StatusOr<Reply>;

std::shared_ptr<const QuestionKey> Key(const std::string& canonical_form,
                                       const std::string& signature = "s") {
  return std::make_shared<QuestionKey>(QuestionKey{signature, canonical_form});
}

Computed Made(double seconds, prism::v1::Quality quality = QUALITY_EXACT) {
  Prediction prediction;
  prediction.set_nominal_step_seconds(seconds);
  prediction.set_quality(quality);
  return ComputedFrom(prediction);
}

Prediction PredictionOf(const Result& result) {
  Prediction prediction;
  EXPECT_TRUE(prediction.ParseFromString(result->answer->bytes));
  return prediction;
}

// One caller's wait.
class Call {
 public:
  Call(Answers& answers, std::shared_ptr<const QuestionKey> key,
       Compute compute, absl::Duration timeout = absl::Minutes(1)) {
    auto promise = std::make_shared<std::promise<Result>>();
    future_ = promise->get_future();
    auto asked = answers.Ask(
        std::move(key), std::move(compute), absl::Now() + timeout,
        [promise](Result result) { promise->set_value(std::move(result)); });
    if (!asked.ok()) {
      promise->set_value(asked.status());
    } else if (asked->reply) {
      promise->set_value(*asked->reply);
    } else {
      waiter_ = asked->waiter;
    }
  }

  Result Get() { return future_.get(); }
  bool Waits() const {
    return future_.wait_for(std::chrono::milliseconds(20)) ==
           std::future_status::timeout;
  }
  WaiterId waiter() const { return waiter_; }

 private:
  std::future<Result> future_;
  WaiterId waiter_ = 0;
};

class AnswersTest : public testing::Test {
 protected:
  void Make(AnswersOptions options) {
    answers_ = std::make_unique<Answers>(
        options, [] { return absl::Now(); }, metrics_);
  }

  Compute Returns(double seconds) {
    return [this, seconds](const base::Budget&, base::Executor&) {
      ++computed_;
      return Made(seconds);
    };
  }

  // Waits for release_, as long as it is not cancelled.
  Compute Waits(double seconds) {
    return [this, seconds](const base::Budget& budget,
                           base::Executor&) -> absl::StatusOr<Computed> {
      ++computed_;
      while (!release_ && !budget.Cancelled()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (budget.Cancelled()) return absl::CancelledError("cancelled");
      return Made(seconds);
    };
  }

  // Goes on until the budget ends, then gives what it has.
  Compute RunsOutOfTime() {
    return [this](const base::Budget& budget, base::Executor&) {
      ++computed_;
      while (budget.Remaining() > absl::ZeroDuration() && !release_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      return Made(1, release_ ? QUALITY_EXACT : QUALITY_REDUCED);
    };
  }

  void AwaitComputations(int count) {
    while (computed_ < count) std::this_thread::yield();
  }

  ~AnswersTest() override { release_ = true; }

  std::atomic<int> computed_ = 0;
  std::atomic<bool> release_ = false;
  Metrics metrics_{"test"};
  std::unique_ptr<Answers> answers_;
};

TEST_F(AnswersTest, FirstQuestionIsAMiss) {
  Make({});
  const Result result = Call(*answers_, Key("a"), Returns(7)).Get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->cache, CACHE_STATUS_MISS);
  EXPECT_EQ(PredictionOf(result).nominal_step_seconds(), 7);
  EXPECT_EQ(PredictionOf(result).signature(), "s");
}

TEST_F(AnswersTest, SecondQuestionIsAHit) {
  Make({});
  Call(*answers_, Key("a"), Returns(7)).Get().IgnoreError();
  const Result result = Call(*answers_, Key("a"), Returns(8)).Get();
  EXPECT_EQ(result->cache, CACHE_STATUS_HIT);
  EXPECT_EQ(PredictionOf(result).nominal_step_seconds(), 7);
  EXPECT_EQ(metrics_.cache_hits.Value(), 1);
}

TEST_F(AnswersTest, SameSignatureWithAnotherFormIsAMiss) {
  Make({});
  Call(*answers_, Key("a", "same"), Returns(7)).Get().IgnoreError();
  const Result result = Call(*answers_, Key("b", "same"), Returns(8)).Get();
  EXPECT_EQ(result->cache, CACHE_STATUS_MISS);
  EXPECT_EQ(PredictionOf(result).nominal_step_seconds(), 8);
}

TEST_F(AnswersTest, SameSignatureWithAnotherFormDoesNotCoalesce) {
  Make({.workers = 2});
  Call first(*answers_, Key("a", "same"), Waits(7));
  Call second(*answers_, Key("b", "same"), Waits(8));
  AwaitComputations(2);
  release_ = true;
  EXPECT_EQ(PredictionOf(second.Get()).nominal_step_seconds(), 8);
}

TEST_F(AnswersTest, IdenticalQuestionsShareOneComputation) {
  Make({.workers = 2});
  std::vector<Call> calls;
  for (int i = 0; i < 64; ++i) {
    calls.emplace_back(*answers_, Key("a"), Waits(7));
  }
  release_ = true;
  int misses = 0;
  for (Call& call : calls) {
    const Result result = call.Get();
    ASSERT_TRUE(result.ok());
    misses += result->cache == CACHE_STATUS_MISS;
  }
  EXPECT_EQ(misses, 1);
  EXPECT_EQ(computed_, 1);
  EXPECT_EQ(metrics_.cache_coalesced.Value(), 63);
}

TEST_F(AnswersTest, AnswerIsKeptForItsTimeOnly) {
  Make({.ttl = absl::Milliseconds(1)});
  Call(*answers_, Key("a"), Returns(7)).Get().IgnoreError();
  absl::SleepFor(absl::Milliseconds(2));
  EXPECT_EQ(Call(*answers_, Key("a"), Returns(8)).Get()->cache,
            CACHE_STATUS_MISS);
  EXPECT_EQ(metrics_.evicted_expired.Value(), 1);
}

TEST_F(AnswersTest, ReducedAnswerIsNotKept) {
  Make({});
  const auto reduced = [](const base::Budget&, base::Executor&) {
    return Made(7, QUALITY_REDUCED);
  };
  Call(*answers_, Key("a"), reduced).Get().IgnoreError();
  EXPECT_EQ(Call(*answers_, Key("a"), Returns(8)).Get()->cache,
            CACHE_STATUS_MISS);
}

TEST_F(AnswersTest, ErrorIsNotKept) {
  Make({});
  const auto fails = [](const base::Budget&,
                        base::Executor&) -> absl::StatusOr<Computed> {
    return absl::InternalError("broken");
  };
  EXPECT_FALSE(Call(*answers_, Key("a"), fails).Get().ok());
  EXPECT_TRUE(Call(*answers_, Key("a"), Returns(8)).Get().ok());
}

TEST_F(AnswersTest, ExceptionBecomesInternal) {
  Make({});
  const auto throws = [](const base::Budget&,
                         base::Executor&) -> absl::StatusOr<Computed> {
    throw std::bad_alloc();
  };
  EXPECT_EQ(Call(*answers_, Key("a"), throws).Get().status().code(),
            absl::StatusCode::kInternal);
}

TEST_F(AnswersTest, FullQueueRefuses) {
  Make({.workers = 1, .queue_limit = 1});
  Call running(*answers_, Key("a"), Waits(1));
  AwaitComputations(1);
  Call queued(*answers_, Key("b"), Waits(1));
  EXPECT_EQ(Call(*answers_, Key("c"), Waits(1)).Get().status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(metrics_.shed_queue_full.Value(), 1);
}

TEST_F(AnswersTest, HitNeedsNoPlaceInTheQueue) {
  Make({.workers = 1, .queue_limit = 1});
  Call(*answers_, Key("hot"), Returns(1)).Get().IgnoreError();
  computed_ = 0;
  Call running(*answers_, Key("a"), Waits(1));
  AwaitComputations(1);
  Call queued(*answers_, Key("b"), Waits(1));
  EXPECT_TRUE(Call(*answers_, Key("hot"), Returns(1)).Get().ok());
}

TEST_F(AnswersTest, LastCallerThatLeavesCancels) {
  Make({.workers = 1});
  Call first(*answers_, Key("a"), Waits(1));
  Call second(*answers_, Key("a"), Waits(1));
  AwaitComputations(1);
  answers_->Leave(first.waiter());
  answers_->Leave(second.waiter());
  // The one worker is free again.
  EXPECT_TRUE(Call(*answers_, Key("b"), Returns(1)).Get().ok());
}

TEST_F(AnswersTest, CallerThatLeavesDoesNotCancelTheOthers) {
  Make({.workers = 1});
  Call first(*answers_, Key("a"), Waits(1));
  Call second(*answers_, Key("a"), Waits(1));
  AwaitComputations(1);
  answers_->Leave(first.waiter());
  EXPECT_TRUE(second.Waits());
  release_ = true;
  EXPECT_TRUE(second.Get().ok());
}

TEST_F(AnswersTest, QuestionAskedAgainAfterCancellingStartsAnew) {
  Make({.workers = 2});
  Call first(*answers_, Key("a"), Waits(1));
  AwaitComputations(1);
  answers_->Leave(first.waiter());
  EXPECT_EQ(Call(*answers_, Key("a"), Returns(2)).Get()->cache,
            CACHE_STATUS_MISS);
}

TEST_F(AnswersTest, LeavingTheQueueFreesThePlace) {
  Make({.workers = 1, .queue_limit = 1});
  Call running(*answers_, Key("a"), Waits(1));
  AwaitComputations(1);
  Call queued(*answers_, Key("b"), Waits(1));
  answers_->Leave(queued.waiter());
  EXPECT_TRUE(Call(*answers_, Key("c"), Waits(1)).Waits());
}

TEST_F(AnswersTest, DeadlineThatPassesInTheQueueIsNotComputed) {
  Make({.workers = 1});
  Call running(*answers_, Key("a"), Waits(1));
  AwaitComputations(1);
  Call late(*answers_, Key("b"), Returns(1), absl::Milliseconds(5));
  absl::SleepFor(absl::Milliseconds(10));
  release_ = true;
  EXPECT_EQ(late.Get().status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(computed_, 1);
}

TEST_F(AnswersTest, TimeRunningOutGivesAReducedAnswer) {
  Make({});
  const Result result =
      Call(*answers_, Key("a"), RunsOutOfTime(), absl::Milliseconds(50)).Get();
  EXPECT_EQ(PredictionOf(result).quality(), QUALITY_REDUCED);
}

TEST_F(AnswersTest, PatientCallerOutlivesAHurriedOne) {
  Make({.workers = 2});
  Call hurried(*answers_, Key("a"), RunsOutOfTime(), absl::Milliseconds(100));
  Call patient(*answers_, Key("a"), RunsOutOfTime(), absl::Minutes(1));
  EXPECT_EQ(PredictionOf(hurried.Get()).quality(), QUALITY_REDUCED);
  AwaitComputations(2);
  release_ = true;
  const Result result = patient.Get();
  EXPECT_EQ(PredictionOf(result).quality(), QUALITY_EXACT);
  EXPECT_EQ(result->cache, CACHE_STATUS_COALESCED);
}

TEST_F(AnswersTest, HurriedCallerDoesNotCutShortAPatientOne) {
  Make({.workers = 2});
  Call patient(*answers_, Key("a"), RunsOutOfTime(), absl::Minutes(1));
  AwaitComputations(1);
  Call hurried(*answers_, Key("a"), RunsOutOfTime(), absl::Milliseconds(50));
  EXPECT_EQ(PredictionOf(hurried.Get()).quality(), QUALITY_REDUCED);
  EXPECT_TRUE(patient.Waits());
}

TEST_F(AnswersTest, NoCallerHasMoreTimeThanTheServerAllows) {
  Make({.max_prediction = absl::Milliseconds(30)});
  EXPECT_EQ(PredictionOf(Call(*answers_, Key("a"), RunsOutOfTime(),
                              absl::InfiniteDuration())
                             .Get())
                .quality(),
            QUALITY_REDUCED);
}

TEST_F(AnswersTest, CacheStaysWithinItsBytes) {
  Make({.cache_bytes = 64 << 10});
  for (int i = 0; i < 300; ++i) {
    const std::string name = std::to_string(i);
    Call(*answers_, Key(name, name), Returns(1)).Get().IgnoreError();
    ASSERT_LE(answers_->cache().bytes(), 64u << 10);
  }
  EXPECT_GT(metrics_.evicted_for_space.Value(), 0);
  EXPECT_LE(metrics_.cache_bytes.Value(), 64 << 10);
}

TEST_F(AnswersTest, FindAllIsAllOrNothing) {
  Make({});
  Call(*answers_, Key("a", "1"), Returns(1)).Get().IgnoreError();
  Call(*answers_, Key("b", "2"), Returns(2)).Get().IgnoreError();
  const auto found = [this](std::vector<QuestionKey> keys) {
    std::vector<KnownQuestion> questions;
    for (QuestionKey& key : keys) questions.push_back({std::move(key), "v"});
    return answers_->FindAll(questions);
  };
  const auto both = found({*Key("a", "1"), *Key("b", "2")});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].cluster_version, "v");
  EXPECT_TRUE(found({*Key("a", "1"), *Key("c", "3")}).empty());
}

}  // namespace
}  // namespace prism::server
