#include "core/query/project_completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/query/document.h"
#include "core/query/predict.h"

namespace prism::query {
namespace {

using prism::v1::ProjectCompletionRequest;
using prism::v1::ProjectCompletionResponse;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

ProjectCompletionRequest Parse(const std::string& text) {
  ProjectCompletionRequest message;
  base::Violations violations;
  ReadDocument(text, &message, violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return message;
}

constexpr char kJob[] = R"(
job:
  model: {layers: 24, hidden: 1024, heads: 16, vocabulary: 51200}
  parallelism: {tensor: 2, pipeline: 2, data: 4}
  training: {sequence: 2048, global_batch: 64, micro_batch: 2}
cluster:
  accelerator: a100-80gb-sxm
  nodes: 4
  reliability: {failures_per_node_day: 0.2, repair_seconds: 3600}
run:
  steps: 1000000
  checkpoints: {interval_seconds: 1800, blocking_seconds: 20}
  restarts: {seconds: 120}
  spares: 1
  wait_for_repair: true
)";

constexpr char kProfile[] = R"(
profile:
  forward: [{compute: 100}]
  backward: [{compute: 200}]
run:
  steps: 1000
  run_factor_sd: 0
  reliability: {failures_per_node_day: 0}
)";

std::vector<std::string> WrongFields(const ProjectCompletionRequest& message) {
  base::Violations violations;
  EXPECT_FALSE(ReadCompletionQuestion(message, "", violations).has_value());
  std::vector<std::string> fields;
  for (const auto& violation : violations.list()) {
    fields.push_back(violation.field);
  }
  return fields;
}

CompletionQuestion Read(const ProjectCompletionRequest& message) {
  base::Violations violations;
  auto question = ReadCompletionQuestion(message, "", violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return question.value_or(CompletionQuestion());
}

ProjectCompletionResponse Answer(const ProjectCompletionRequest& message) {
  base::UnlimitedBudget budget;
  base::InlineExecutor executor;
  const auto response = ProjectCompletion(Read(message), budget, executor);
  EXPECT_TRUE(response.ok()) << response.status();
  return response.value_or(ProjectCompletionResponse());
}

TEST(ReadCompletionQuestion, TakesNodesAndRatesFromTheCluster) {
  auto message = Parse(kJob);
  auto& state = *message.mutable_cluster()->add_node_states();
  state.set_node(1);
  state.set_failures_per_day(0.7);
  const auto question = Read(message);
  EXPECT_EQ(question.run.plan.failures.nodes, 2);
  EXPECT_THAT(question.run.plan.failures.of_node, ElementsAre(0.2, 0.7));
  EXPECT_EQ(question.run.plan.replacements.repair_seconds.Mean(), 3600);
}

TEST(ReadCompletionQuestion, RunsOwnRateStandsAboveThatOfNodes) {
  auto message = Parse(kJob);
  auto& state = *message.mutable_cluster()->add_node_states();
  state.set_node(1);
  state.set_failures_per_day(0.7);
  message.mutable_run()->mutable_reliability()->set_failures_per_node_day(1);
  const auto& failures = Read(message).run.plan.failures;
  EXPECT_THAT(failures.of_node, ElementsAre());
  EXPECT_EQ(failures.per_node_day, 1);
}

TEST(ReadCompletionQuestion, FindsAllProblemsAtOnce) {
  auto message = Parse(R"(
job:
  model: {layers: 0, hidden: 1024, heads: 16, vocabulary: 51200}
  training: {sequence: 2048, global_batch: 64}
cluster: {accelerator: a100-80gb-sxm, nodes: 4}
run:
  steps: 0
  step_autocorrelation: 1
  checkpoints: {interval_seconds: 10, none: true}
  evaluations: {seconds: 5}
  restarts: {slow_factor: 0.5}
  reliability: {node_loss_share: 2}
progress: {failures: 2}
deadline_seconds: -1
)");
  EXPECT_THAT(WrongFields(message),
              UnorderedElementsAre(
                  "job.model.layers", "run.steps", "run.step_autocorrelation",
                  "run.checkpoints", "run.evaluations.interval_steps",
                  "run.restarts.slow_factor", "run.reliability.node_loss_share",
                  "progress.observed_days", "deadline_seconds"));
}

TEST(ReadCompletionQuestion, NeedsARun) {
  auto message = Parse(kProfile);
  message.clear_run();
  EXPECT_THAT(WrongFields(message), ElementsAre("run"));
}

TEST(ReadCompletionQuestion, NamesTheChangeThatIsWrong) {
  auto message = Parse(kJob);
  auto& what_if = *message.add_what_ifs()->mutable_cluster();
  auto& change = *what_if.add_nodes();
  change.set_node(0);
  change.set_slowdown(-2);
  EXPECT_THAT(WrongFields(message),
              ElementsAre("what_ifs[0].cluster.nodes[0].slowdown"));
}

TEST(ReadCompletionQuestion, NodeIsNotUsedTwice) {
  auto message = Parse(kJob);
  auto& replace = *message.add_what_ifs()->mutable_cluster()->add_replace();
  replace.set_node(0);
  replace.set_by(1);
  EXPECT_THAT(WrongFields(message), ElementsAre("what_ifs[0].cluster.replace"));
}

TEST(ReadCompletionQuestion, FailedNodeMayBeReplaced) {
  auto message = Parse(kJob);
  message.mutable_placement()->add_nodes(0);
  message.mutable_placement()->add_nodes(1);
  auto& what_if = *message.add_what_ifs()->mutable_cluster();
  auto& change = *what_if.add_nodes();
  change.set_node(0);
  change.set_health(prism::v1::HEALTH_FAILED);
  EXPECT_THAT(WrongFields(message), ElementsAre("what_ifs[0].cluster"));
  auto& replace = *what_if.add_replace();
  replace.set_node(0);
  replace.set_by(3);
  const auto question = Read(message);
  ASSERT_EQ(question.what_ifs.size(), 1u);
  const auto& step = question.what_ifs[0].step;
  EXPECT_THAT(std::get<JobSubject>(step.subject).placement.nodes,
              ElementsAre(3, 1));
}

TEST(CompletionForm, NamesOfJobsChangeNothingAndRunsDo) {
  const auto message = Parse(kJob);
  const std::string form = CanonicalForm(Read(message));
  auto other = message;
  other.mutable_job()->set_name("another");
  EXPECT_EQ(CanonicalForm(Read(other)), form);
  other.mutable_run()->set_spares(2);
  EXPECT_NE(CanonicalForm(Read(other)), form);
}

TEST(ProjectCompletion, WithoutFailuresIsTheSumOfItsSteps) {
  auto message = Parse(kProfile);
  message.mutable_run()->mutable_checkpoints()->set_none(true);
  message.set_deadline_seconds(301);
  const auto response = Answer(message);
  EXPECT_NEAR(response.completion().completion_time().mean_seconds(), 300,
              1e-6);
  EXPECT_EQ(response.completion().probability_by_deadline(), 1);
  EXPECT_EQ(response.completion().expected_failures(), 0);
  EXPECT_EQ(response.completion().checkpoint_interval_seconds(), 0);
}

TEST(ProjectCompletion, TimeByKindSumsToTheMean) {
  const auto response = Answer(Parse(kJob));
  double sum = 0;
  for (const auto& part : response.completion().time_by_kind()) {
    sum += part.seconds();
  }
  const double mean = response.completion().completion_time().mean_seconds();
  EXPECT_NEAR(sum / mean, 1, 1e-9);
  EXPECT_GT(response.completion().expected_failures(), 0);
  EXPECT_NEAR(response.completion().mean_time_to_failure_seconds(), 86400 / 0.4,
              1e-6);
}

TEST(ProjectCompletion, WhatIfsShareTheirDraws) {
  auto message = Parse(kJob);
  auto& same = *message.add_what_ifs();
  same.set_name("nothing changes");
  auto& slower = *message.add_what_ifs();
  slower.set_name("a slow node");
  auto& node = *slower.mutable_cluster()->add_nodes();
  node.set_node(0);
  node.set_slowdown(1.5);
  auto& interval = *message.add_what_ifs();
  interval.mutable_run()->mutable_checkpoints()->set_interval_steps(100);
  const auto response = Answer(message);
  ASSERT_EQ(response.what_ifs_size(), 3);
  const auto median = [](const prism::v1::Completion& completion) {
    return completion.completion_time().quantiles().p50();
  };
  EXPECT_EQ(median(response.what_ifs(0).completion()),
            median(response.completion()));
  EXPECT_GT(median(response.what_ifs(1).completion()),
            median(response.completion()));
  EXPECT_NE(response.what_ifs(2).completion().checkpoint_interval_seconds(),
            response.completion().checkpoint_interval_seconds());
}

TEST(ProjectCompletion, ProgressShortensWhatIsLeft) {
  auto message = Parse(kProfile);
  message.mutable_run()->mutable_checkpoints()->set_none(true);
  message.mutable_progress()->set_steps_done(750);
  EXPECT_NEAR(Answer(message).completion().completion_time().mean_seconds(), 75,
              1e-6);
}

}  // namespace
}  // namespace prism::query
