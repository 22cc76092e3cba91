#include "core/trace/replay/change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/trace/testing/made_trace.h"

namespace prism::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One worker of the first stage takes three times as long as the others.
MadeJob SlowWorkerJob() {
  MadeJob job;
  job.sizes = {.data = 3, .pipeline = 2};
  job.compute_seconds = [](const Operation& o) {
    const double base = o.kind == OperationKind::kForwardCompute ? 0.1 : 0.2;
    return o.replica == 1 && o.stage == 0 ? 3 * base : base;
  };
  return job;
}

class ChangeTest : public ::testing::Test {
 protected:
  ChangeTest()
      : job_(SlowWorkerJob()),
        step_(*RecordedStep::From(MakeStep(job_), job_.sizes)) {
    TypicalGatherer gatherer;
    gatherer.Add(step_);
    typical_ = gatherer.Finish();
  }

  std::vector<double> Changed(const std::string& text) {
    auto change = ParseChange(text);
    EXPECT_TRUE(change.ok()) << change.status();
    auto changes = Changes::Prepare({*change}, job_.sizes, typical_);
    EXPECT_TRUE(changes.ok()) << changes.status();
    suggestions_ = changes->suggestions();
    return changes->Apply(step_);
  }

  const Operation& At(size_t i) const { return step_.step().operations[i]; }

  MadeJob job_;
  RecordedStep step_;
  Typical typical_;
  std::vector<std::string> suggestions_;
};

TEST_F(ChangeTest, ScalingChangesTheSourceAlone) {
  const auto work = Changed("scale:forward=0.5");
  for (size_t i = 0; i < work.size(); ++i) {
    const bool scaled = At(i).kind == OperationKind::kForwardCompute;
    EXPECT_EQ(work[i], step_.work()[i] * (scaled ? 0.5 : 1));
  }
}

TEST_F(ChangeTest, FreezingTakesWhatIsTypical) {
  const auto work = Changed("freeze:stage:0");
  for (size_t i = 0; i < work.size(); ++i) {
    EXPECT_EQ(work[i], At(i).stage == 0
                           ? typical_.seconds[static_cast<size_t>(At(i).kind)]
                           : step_.work()[i]);
  }
}

TEST_F(ChangeTest, SourcesByRankAndWorkerAreTheirOperations) {
  const auto of_replica = Changed("scale:rank:2=2");
  const auto of_worker = Changed("scale:worker:4=2");  // stage 1, replica 1
  for (size_t i = 0; i < of_worker.size(); ++i) {
    const double work = step_.work()[i];
    EXPECT_EQ(of_replica[i], At(i).replica == 2 ? 2 * work : work);
    EXPECT_EQ(of_worker[i],
              At(i).replica == 1 && At(i).stage == 1 ? 2 * work : work);
  }
}

TEST_F(ChangeTest, AReplacedRankDoesAsItsStagesOthers) {
  const auto work = Changed("replace-rank:1");
  for (size_t i = 0; i < work.size(); ++i) {
    if (At(i).kind == OperationKind::kForwardCompute) {
      EXPECT_NEAR(work[i], 0.1, 1e-12);
    }
    if (At(i).replica != 1 || At(i).stage != 0) {
      EXPECT_EQ(work[i], step_.work()[i]);
    }
  }
}

TEST_F(ChangeTest, RebalancedStagesComputeForTheSameTime) {
  job_.compute_seconds = [](const Operation& o) {
    return o.stage == 1 ? 0.3 : 0.1;
  };
  step_ = *RecordedStep::From(MakeStep(job_), job_.sizes);
  TypicalGatherer gatherer;
  gatherer.Add(step_);
  typical_ = gatherer.Finish();
  const auto work = Changed("rebalance-stages");
  for (size_t i = 0; i < work.size(); ++i) {
    if (IsCompute(At(i).kind)) {
      EXPECT_NEAR(work[i], 0.2, 1e-9);
    }
  }
  Changed("rebalance-stages:2,6");
  EXPECT_THAT(suggestions_[0], HasSubstr("instead of 2, 6"));
}

TEST_F(ChangeTest, WhatDoesNotFitTheJobIsSaid) {
  for (const auto& [text, said] :
       {std::pair{"freeze:stage:2", "the stages 0 to 1"},
        {"freeze:rank:3", "the data ranks 0 to 2"},
        {"freeze:worker:6", "no worker"},
        {"replace-rank:77", "no worker"},
        {"rebalance-stages:1,2,3", "the job has 2 stages"}}) {
    const auto changes =
        Changes::Prepare({*ParseChange(text)}, job_.sizes, typical_);
    EXPECT_THAT(std::string(changes.status().message()), HasSubstr(said));
  }
}

TEST(ChangeTextTest, ChangesAreRead) {
  const auto scale = ParseChange("scale:forward-send=1.5");
  ASSERT_TRUE(scale.ok());
  EXPECT_EQ(scale->factor, 1.5);
  EXPECT_EQ(scale->source.name, "forward-send");
  EXPECT_EQ(ParseChange("replace-rank:5")->rank, 5);
  EXPECT_THAT(ParseChange("rebalance-stages:8,9")->layers, ElementsAre(8, 9));
  EXPECT_EQ(ParseChange("freeze:worker:12")->source.rank, 12);
  EXPECT_EQ(ParseChange("sort-sequences")->type, Change::Type::kSortSequences);
}

TEST(ChangeTextTest, WhatIsNoChangeIsSaid) {
  for (const char* text : {"",
                           "hope",
                           "scale",
                           "scale:",
                           "scale:forward",
                           "scale:forward=",
                           "scale:forward=x",
                           "scale:forward=inf",
                           "scale:forward=-1",
                           "scale:tea=1",
                           "freeze:",
                           "freeze:stage:",
                           "freeze:stage:-1",
                           "freeze:stage:1x",
                           "replace-rank",
                           "replace-rank:x",
                           "rebalance-stages:",
                           "rebalance-stages:8,,8",
                           "rebalance-stages:0",
                           "sort-sequences:yes"}) {
    EXPECT_EQ(ParseChange(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

}  // namespace
}  // namespace prism::trace
