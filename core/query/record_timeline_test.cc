#include "core/query/record_timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/query/example_questions.h"
#include "core/query/predict.h"

namespace prism::query {
namespace {

using prism::v1::RecordTimelineRequest;
using prism::v1::RecordTimelineResponse;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

RecordTimelineRequest OfProfile() {
  RecordTimelineRequest message;
  *message.mutable_profile() = ExampleProfile().profile();
  message.set_samples(300);
  return message;
}

RecordTimelineRequest OfJob() {
  RecordTimelineRequest message;
  const prism::v1::Question question = ExampleJob();
  *message.mutable_job() = question.job();
  *message.mutable_cluster() = question.cluster();
  message.set_samples(100);
  return message;
}

TimelineQuestion Read(const RecordTimelineRequest& message) {
  base::Violations violations;
  auto question = ReadTimelineQuestion(message, "", violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return question ? *std::move(question) : TimelineQuestion();
}

RecordTimelineResponse Answer(const RecordTimelineRequest& message) {
  base::InlineExecutor executor;
  auto response =
      RecordTimeline(Read(message), base::UnlimitedBudget(), executor);
  EXPECT_TRUE(response.ok()) << response.status();
  return response.ok() ? *std::move(response) : RecordTimelineResponse();
}

std::vector<std::string> WrongFields(const RecordTimelineRequest& message) {
  base::Violations violations;
  EXPECT_FALSE(ReadTimelineQuestion(message, "", violations).has_value());
  std::vector<std::string> fields;
  for (const auto& violation : violations.list()) {
    fields.push_back(violation.field);
  }
  return fields;
}

// What Predict says of the same question by Monte Carlo.
prism::v1::Prediction Predicted(const RecordTimelineRequest& message) {
  base::InlineExecutor executor;
  auto prediction =
      Predict(Read(message).step, base::UnlimitedBudget(), executor);
  EXPECT_TRUE(prediction.ok()) << prediction.status();
  return *std::move(prediction);
}

TEST(RecordTimelineQuestionTest, TheRunIsThatOfAPrediction) {
  for (const RecordTimelineRequest& message : {OfProfile(), OfJob()}) {
    const RecordTimelineResponse response = Answer(message);
    const prism::v1::Prediction prediction = Predicted(message);
    EXPECT_EQ(response.step_time().SerializeAsString(),
              prediction.step_time().SerializeAsString());
    ASSERT_THAT(response.steps(), SizeIs(3));
    EXPECT_EQ(response.steps(0).step_seconds(),
              prediction.nominal_step_seconds());
    const auto& quantiles = prediction.step_time().quantiles();
    EXPECT_NEAR(response.steps(1).step_seconds(), quantiles.p50(),
                0.01 * quantiles.p50());
    EXPECT_GT(response.steps(2).step_seconds(), quantiles.p75());
  }
}

TEST(RecordTimelineQuestionTest, StepsEndWithTheirLastRank) {
  const RecordTimelineResponse response = Answer(OfJob());
  for (const auto& step : response.steps()) {
    EXPECT_THAT(step.ranks(), SizeIs(response.stages()));
    double end = 0;
    for (const auto& rank : step.ranks()) {
      const auto& closing = *rank.operations().rbegin();
      EXPECT_EQ(closing.phase(), prism::v1::OPERATION_PHASE_CLOSING);
      if (rank.rank() == step.last_rank()) end = closing.end_seconds();
    }
    EXPECT_EQ(end, step.step_seconds());
  }
}

TEST(RecordTimelineQuestionTest, TasksHaveKindsThatAreNamed) {
  RecordTimelineRequest message = OfProfile();
  message.set_tasks(true);
  const RecordTimelineResponse response = Answer(message);
  int tasks = 0;
  for (const auto& ran : response.steps(0).ranks(0).operations()) {
    for (const auto& task : ran.tasks()) {
      ASSERT_LT(task.kind(), static_cast<uint32_t>(response.kinds_size()));
      ++tasks;
    }
  }
  EXPECT_GT(tasks, 0);
}

TEST(RecordTimelineQuestionTest, AskedRanksAreThere) {
  RecordTimelineRequest message = OfProfile();
  for (uint32_t rank : {7, 0, 7}) message.add_ranks(rank);
  EXPECT_THAT(Read(message).ranks, ElementsAre(0, 7));
  bool first = false, last = false;
  const RecordTimelineResponse response = Answer(message);
  for (const auto& rank : response.steps(0).ranks()) {
    first = first || rank.rank() == 0;
    last = last || rank.rank() == 7;
  }
  EXPECT_TRUE(first && last);
}

TEST(RecordTimelineQuestionTest, AJobThatDoesNotFitSaysSo) {
  RecordTimelineRequest message = OfJob();
  message.mutable_job()->mutable_model()->set_layers(48);
  message.mutable_job()->mutable_model()->set_hidden(16384);
  message.mutable_job()->mutable_model()->set_heads(128);
  const RecordTimelineResponse response = Answer(message);
  EXPECT_THAT(response.provenance().notes(),
              ElementsAre(HasSubstr("the job cannot run: ")));
  EXPECT_THAT(response.steps(), SizeIs(3));
}

TEST(RecordTimelineQuestionTest, WhatIsWrongIsNamed) {
  RecordTimelineRequest beyond = OfProfile();
  beyond.add_ranks(7);
  beyond.add_ranks(8);
  EXPECT_THAT(WrongFields(beyond), ElementsAre("ranks[1]"));

  RecordTimelineRequest many = OfProfile();
  for (int i = 0; i < 1025; ++i) many.add_ranks(0);
  EXPECT_THAT(WrongFields(many), ElementsAre("ranks"));

  RecordTimelineRequest few = OfProfile();
  few.set_samples(99);
  EXPECT_THAT(WrongFields(few), ElementsAre("samples"));

  RecordTimelineRequest placed = OfProfile();
  *placed.mutable_cluster() = OfJob().cluster();
  EXPECT_THAT(WrongFields(placed), ElementsAre("cluster"));

  EXPECT_THAT(WrongFields(RecordTimelineRequest()), ElementsAre(""));
}

TEST(RecordTimelineQuestionTest, TheFormSaysAllTheAnswerDependsOn) {
  const std::string form = CanonicalForm(Read(OfProfile()));
  EXPECT_EQ(form, CanonicalForm(Read(OfProfile())));
  RecordTimelineRequest named = OfProfile();
  named.mutable_profile()->set_name("another");
  EXPECT_EQ(form, CanonicalForm(Read(named)));

  RecordTimelineRequest tasks = OfProfile();
  tasks.set_tasks(true);
  RecordTimelineRequest ranks = OfProfile();
  ranks.add_ranks(1);
  RecordTimelineRequest samples = OfProfile();
  samples.set_samples(301);
  for (const RecordTimelineRequest& other : {tasks, ranks, samples}) {
    EXPECT_NE(form, CanonicalForm(Read(other)));
  }
  EXPECT_NE(form, CanonicalForm(Read(OfProfile()).step));
}

TEST(RecordTimelineQuestionTest, OnlyJobsDependOnAClusterForm) {
  EXPECT_THAT(ClusterForm(Read(OfProfile())), IsEmpty());
  EXPECT_NE(ClusterForm(Read(OfJob())), "");
}

}  // namespace
}  // namespace prism::query
