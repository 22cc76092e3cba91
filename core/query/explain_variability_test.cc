#include "core/query/explain_variability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/query/document.h"
#include "core/query/example_questions.h"
#include "core/query/step_change.h"

namespace prism::query {
namespace {

namespace v1 = prism::v1;

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// Eight ranks, one of them slow; all compute of a step shares a factor.
constexpr char kProfile[] = R"(
profile:
  layout: {data: 2, pipeline: 2, tensor: 2, microbatches: 4}
  forward:
    - {name: attention, compute: {normal: {mean: 4, sd: 0.3}}, count: 4}
    - {name: mlp, compute: 6, collective: 0.5, sync: tensor}
  backward: [{compute: 30}]
  transfer: {gamma: {mean: 1, cv: 0.5}}
  gradient_sync: {gamma: {mean: 9, cv: 0.1}}
  optimizer: 3
  compute_regime: {normal: {mean: 1, sd: 0.02}}
  slowdown: {5: 1.3}
)";

v1::ExplainVariabilityRequest Parse(const std::string& text) {
  v1::ExplainVariabilityRequest message;
  base::Violations violations;
  ReadDocument(text, &message, violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return message;
}

v1::ExplainVariabilityRequest OfProfile(const std::string& more = "") {
  return Parse(std::string(kProfile) + more);
}

v1::ExplainVariabilityRequest OfJob() {
  v1::ExplainVariabilityRequest message;
  const v1::Question question = ExampleJob();
  *message.mutable_job() = question.job();
  *message.mutable_cluster() = question.cluster();
  return message;
}

ExplainQuestion Read(const v1::ExplainVariabilityRequest& message) {
  base::Violations violations;
  auto question = ReadExplainQuestion(message, "", violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return question ? *std::move(question) : ExplainQuestion();
}

v1::ExplainVariabilityResponse Answer(
    const v1::ExplainVariabilityRequest& message) {
  base::InlineExecutor executor;
  auto response =
      ExplainVariability(Read(message), base::UnlimitedBudget(), executor);
  EXPECT_TRUE(response.ok()) << response.status();
  return response.ok() ? *std::move(response)
                       : v1::ExplainVariabilityResponse();
}

// "field: description" of all that is wrong.
std::vector<std::string> Wrong(const v1::ExplainVariabilityRequest& message) {
  base::Violations violations;
  EXPECT_FALSE(ReadExplainQuestion(message, "", violations).has_value());
  std::vector<std::string> wrong;
  for (const auto& v : violations.list()) {
    wrong.push_back(v.field + ": " + v.description);
  }
  return wrong;
}

const v1::Cause& CauseOf(const v1::Explanation& explanation,
                         const std::string& name) {
  for (const v1::Cause& cause : explanation.causes()) {
    if (cause.name() == name) return cause;
  }
  ADD_FAILURE() << name;
  return explanation.causes(0);
}

TEST(ExplainVariability, NamesTheCauses) {
  const auto response = Answer(OfProfile("samples: 1000\n"));
  const v1::Explanation& explanation = response.explanation();
  EXPECT_TRUE(response.feasible());
  EXPECT_EQ(response.provenance().quality(), v1::QUALITY_EXACT);
  EXPECT_EQ(explanation.samples(), 1000);
  EXPECT_EQ(explanation.method(), v1::METHOD_MONTECARLO);
  const v1::Cause& rank = CauseOf(explanation, "rank 5");
  EXPECT_EQ(rank.by(), v1::CAUSE_BY_RANK);
  EXPECT_DOUBLE_EQ(rank.excess(), 1.3);
  EXPECT_LT(rank.without().p50_seconds(),
            0.9 * explanation.step_time().quantiles().p50());
  EXPECT_GT(CauseOf(explanation, "compute_regime").share_of_variance(), 0.8);
  EXPECT_EQ(CauseOf(explanation, "transfer").by(), v1::CAUSE_BY_COLLECTIVE);
  ASSERT_THAT(explanation.sentences(), testing::Not(IsEmpty()));
  EXPECT_THAT(explanation.sentences(0),
              StartsWith("rank 5 is 1.30 times as slow as its peers: with a "
                         "typical one in its place the median step would be "));
  EXPECT_THAT(explanation.sentences(),
              Contains(StartsWith("compute_regime, a draw that many")));
  EXPECT_THAT(explanation.sentences(),
              Contains(StartsWith("backward takes most of the mean step")));
}

TEST(ExplainVariability, SaysWhatChangesWouldDo) {
  const auto response =
      Answer(OfProfile("what_ifs:\n"
                       "  - {scale: {source: backward, factor: 0.5}}\n"
                       "  - {freeze: compute_regime}\n"
                       "  - {replace_rank: 5}\n"
                       "  - {rebalance_stages: {}}\n"));
  const v1::Explanation& explanation = response.explanation();
  ASSERT_THAT(explanation.what_ifs(), SizeIs(4));
  const double p50 = explanation.step_time().quantiles().p50();
  const v1::ChangedStep& scaled = explanation.what_ifs(0);
  EXPECT_EQ(scaled.change(), "scale:backward=0.5");
  EXPECT_LT(scaled.step().p50_seconds(), 0.85 * p50);
  const v1::ChangedStep& replaced = explanation.what_ifs(2);
  EXPECT_DOUBLE_EQ(replaced.step().p50_seconds(),
                   CauseOf(explanation, "rank 5").without().p50_seconds());
  EXPECT_THAT(replaced.sentence(),
              StartsWith("replace-rank:5: the median step would be "));
  const v1::ChangedStep& balanced = explanation.what_ifs(3);
  // Rank 5 is slow and on stage 0.
  ASSERT_THAT(balanced.stage_scale(), SizeIs(2));
  EXPECT_DOUBLE_EQ(balanced.stage_scale(1) / balanced.stage_scale(0), 1.3);
  EXPECT_LT(balanced.step().p50_seconds(), p50);
}

TEST(ExplainVariability, SequencesOfEvenLengthNeedNoSorting) {
  EXPECT_THAT(Wrong(OfProfile("what_ifs: [{sort_sequences: {}}]\n")),
              ElementsAre("what_ifs[0].sort_sequences: is not allowed; all "
                          "micro-batches have the same load"));
}

TEST(ExplainVariability, SortedSequencesMakeTheStepShorter) {
  auto message = OfProfile("what_ifs: [{sort_sequences: {}}]\n");
  message.mutable_profile()->clear_slowdown();
  auto& load = *message.mutable_profile()->mutable_microbatch_load();
  load.mutable_lognormal()->set_mean(1);
  load.mutable_lognormal()->set_cv(0.4);
  const auto response = Answer(message);
  const v1::ChangedStep& sorted = response.explanation().what_ifs(0);
  EXPECT_THAT(sorted.sentence(), StartsWith("sort-sequences (the "));
  EXPECT_LT(
      sorted.step().mean_seconds() + 3 * sorted.step().mean_error_seconds(),
      response.explanation().step_time().mean_seconds());
}

TEST(ExplainVariability, AJobIsExplainedByItsLayersAndNodes) {
  auto message = OfJob();
  auto& state = *message.mutable_cluster()->add_node_states();
  state.set_node(1);
  state.set_slowdown(1.2);
  auto& other = *message.mutable_cluster()->add_node_states();
  other.set_node(0);
  other.set_slowdown(1);
  const auto response = Answer(message);
  const v1::Explanation& explanation = response.explanation();
  const v1::Cause& node = CauseOf(explanation, "node 1");
  EXPECT_EQ(node.by(), v1::CAUSE_BY_RANK);
  EXPECT_NEAR(node.excess(), 1.2, 1e-9);
  EXPECT_EQ(CauseOf(explanation, "forward.layer").by(), v1::CAUSE_BY_KIND);
  EXPECT_EQ(CauseOf(explanation, "rare_slow_steps").by(), v1::CAUSE_BY_SHARED);
  EXPECT_THAT(explanation.sentences(),
              Contains(StartsWith("node 1 is 1.20 times")));
}

TEST(ExplainVariability, StagesOfAJobAreSplitByWhatTheyTake) {
  auto message = OfJob();
  auto& split = *message.mutable_job()->mutable_parallelism();
  split.set_pipeline(4);
  split.set_data(2);
  split.set_tensor(2);
  message.add_what_ifs()->mutable_rebalance_stages();
  const auto response = Answer(message);
  const v1::ChangedStep& balanced = response.explanation().what_ifs(0);
  ASSERT_THAT(balanced.stage_layers(), SizeIs(4));
  uint32_t sum = 0;
  for (const uint32_t layers : balanced.stage_layers()) sum += layers;
  EXPECT_EQ(sum, message.job().model().layers());
  // The last stage has the head as well.
  EXPECT_LT(balanced.stage_layers(3), balanced.stage_layers(1));
  EXPECT_LT(balanced.step().p50_seconds(),
            response.explanation().step_time().quantiles().p50());
}

TEST(ExplainVariability, WhatCannotBeChangedIsNamed) {
  EXPECT_THAT(
      Wrong(OfProfile("what_ifs:\n"
                      "  - {scale: {source: forwards, factor: 2}}\n"
                      "  - {scale: {source: forward, factor: -1}}\n"
                      "  - {scale: {source: 'rank:1', factor: 0}}\n"
                      "  - {replace_rank: 8}\n"
                      "  - {}\n")),
      ElementsAre(
          StartsWith("what_ifs[0].scale.source: is \"forwards\", which names "
                     "no source; must be one of forward.attention"),
          "what_ifs[1].scale.factor: is -1; must be from 0 and at most 1000",
          "what_ifs[2].scale.factor: is 0; must be above 0 and at most 1000",
          "what_ifs[3].replace_rank: is 8; must be from 0 to 7",
          StartsWith("what_ifs[4]: changes nothing; must have")));
}

TEST(ExplainVariability, ThereAreLimits) {
  auto message = OfProfile("samples: 9\n");
  for (int i = 0; i < 17; ++i) message.add_what_ifs()->set_replace_rank(0);
  EXPECT_THAT(Wrong(message),
              testing::UnorderedElementsAre(
                  StartsWith("samples: is 9; must be"),
                  "what_ifs: has 17 entries; must have at most 16"));
}

TEST(ExplainVariability, EqualQuestionsHaveEqualForms) {
  const std::string form = CanonicalForm(Read(OfProfile()));
  EXPECT_EQ(form, CanonicalForm(Read(OfProfile("samples: 0\n"))));
  EXPECT_NE(form, CanonicalForm(Read(OfProfile("samples: 500\n"))));
  EXPECT_NE(form,
            CanonicalForm(Read(OfProfile("what_ifs: [{freeze: forward}]\n"))));
  // Names are in the answer.
  auto renamed = OfProfile();
  renamed.mutable_profile()->mutable_forward(0)->set_name("softmax");
  EXPECT_NE(form, CanonicalForm(Read(renamed)));
}

TEST(StepChange, TextIsReadBack) {
  for (const char* text :
       {"scale:forward.attention=0.9", "freeze:stage:3", "replace-rank:12",
        "rebalance-stages", "sort-sequences"}) {
    const auto change = ParseChange(text);
    ASSERT_TRUE(change.ok()) << text;
    EXPECT_EQ(ChangeText(*change), text);
  }
}

TEST(StepChange, WrongTextSaysWhatIsRight) {
  for (const char* text : {"", "scale", "scale:x", "scale:=2", "scale:x=fast",
                           "freeze:", "replace-rank:-1", "replace-rank:x",
                           "rebalance", "sort-sequences:x"}) {
    const auto change = ParseChange(text);
    EXPECT_THAT(std::string(change.status().message()),
                HasSubstr("must be scale:SOURCE=FACTOR"))
        << text;
  }
}

}  // namespace
}  // namespace prism::query
