#include "core/query/placement_questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/query/document.h"

namespace prism::query {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::UnorderedElementsAre;

// Two replicas of two nodes each, on a cluster of six, one of which is slow.
constexpr char kSetting[] = R"(
job:
  model: {layers: 32, hidden: 4096, heads: 32, vocabulary: 51200}
  parallelism: {tensor: 8, pipeline: 2, data: 2}
  training: {sequence: 2048, global_batch: 64}
cluster:
  accelerator: a100-80gb-sxm
  nodes: 6
  node_names: [a, b, c, d, e, f]
  node_states:
    - {node: 0, slowdown: 1}
    - {node: 1, slowdown: 1}
    - {node: 2, slowdown: 1.4}
    - {node: 3, slowdown: 1}
    - {node: 4, slowdown: 1}
    - {node: 5, slowdown: 1, health: failed}
)";

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  base::Violations violations;
  ReadDocument(text, &message, violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return message;
}

prism::v1::ScorePlacementsRequest ScoreRequest(const std::string& more) {
  return Parse<prism::v1::ScorePlacementsRequest>(kSetting + more);
}
prism::v1::OptimizePlacementRequest OptimizeRequest(const std::string& more) {
  return Parse<prism::v1::OptimizePlacementRequest>(kSetting + more);
}
prism::v1::RankNodesRequest RankRequest(const std::string& more) {
  return Parse<prism::v1::RankNodesRequest>(kSetting + more);
}

std::vector<std::string> Fields(const base::Violations& violations) {
  std::vector<std::string> fields;
  for (const auto& v : violations.list()) fields.push_back(v.field);
  return fields;
}

template <typename Result, typename Message>
Result Read(std::optional<Result> (*read)(const Message&, const std::string&,
                                          base::Violations&),
            const Message& message) {
  base::Violations violations;
  auto question = read(message, "", violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return question.value_or(Result());
}

template <typename Response, typename Question>
Response Answer(absl::StatusOr<Response> (*answer)(const Question&,
                                                   const base::Budget&,
                                                   base::Executor&),
                const Question& question) {
  base::UnlimitedBudget budget;
  base::InlineExecutor executor;
  auto response = answer(question, budget, executor);
  EXPECT_TRUE(response.ok()) << response.status();
  return response.value_or(Response());
}

TEST(ScoreQuestion, FindsAllProblemsAtOnce) {
  base::Violations violations;
  const auto message = ScoreRequest(R"(
risk_quantile: 1
placements:
  - nodes: [0, 1, 3]
  - nodes: [0, 1, 3, 9]
  - nodes: [0, 1, 3, 5]
)");
  EXPECT_FALSE(ReadScoreQuestion(message, "", violations).has_value());
  EXPECT_THAT(
      Fields(violations),
      UnorderedElementsAre("risk_quantile", "placements[0].nodes",
                           "placements[1].nodes[3]", "placements[2].nodes[3]"));
}

TEST(ScoreQuestion, NeedsCandidates) {
  base::Violations violations;
  EXPECT_FALSE(ReadScoreQuestion(ScoreRequest(""), "", violations).has_value());
  EXPECT_THAT(Fields(violations), ElementsAre("placements"));
}

TEST(ScoreQuestion, PlacementThatAvoidsTheSlowNodeIsBest) {
  const auto question = Read(&ReadScoreQuestion, ScoreRequest(R"(
placements:
  - {nodes: [0, 1, 2, 3]}
  - {name: without c, nodes: [0, 1, 3, 4]}
)"));
  const auto response = Answer(&ScorePlacements, question);
  ASSERT_EQ(response.placements_size(), 2);
  EXPECT_EQ(response.placements(0).name(), "#0");
  EXPECT_EQ(response.placements(1).name(), "without c");
  EXPECT_EQ(response.placements(1).score(), 100);
  EXPECT_LT(response.placements(0).score(), 90);
  EXPECT_EQ(response.placements(1).tied_group(), 0);
  EXPECT_EQ(response.placements(0).tied_group(), 1);
  EXPECT_EQ(response.placements(1).probability_best(), 1);
}

TEST(ScoreQuestion, WhatIfAnswersForTheChangedCluster) {
  const auto question = Read(&ReadScoreQuestion, ScoreRequest(R"(
placements:
  - {nodes: [0, 1, 2, 3]}
  - {nodes: [0, 1, 3, 4]}
what_ifs:
  - {name: c repaired, nodes: [{node: 2, slowdown: 1}]}
)"));
  const auto response = Answer(&ScorePlacements, question);
  ASSERT_EQ(response.what_ifs_size(), 1);
  const auto& repaired = response.what_ifs(0).placements();
  EXPECT_EQ(repaired[0].tied_group(), repaired[1].tied_group());
  EXPECT_EQ(repaired[0].score(), repaired[1].score());
}

TEST(ScoreQuestion, WhatIfDoesNotRunOnFailedNodes) {
  base::Violations violations;
  const auto message = ScoreRequest(R"(
placements: [{nodes: [0, 1, 3, 4]}]
what_ifs:
  - nodes: [{node: 3, health: failed}]
  - replace: [{node: 1, by: 5}]
  - {nodes: [{node: 3, health: failed}], replace: [{node: 3, by: 2}]}
)");
  EXPECT_FALSE(ReadScoreQuestion(message, "", violations).has_value());
  EXPECT_THAT(Fields(violations), ElementsAre("what_ifs[0]", "what_ifs[1]"));
}

TEST(ScoreQuestion, NamesCountInTheFormAsTheyAreTold) {
  const auto message = ScoreRequest("placements: [{nodes: [0, 1, 3, 4]}]");
  auto other = message;
  other.mutable_placements(0)->set_name("x");
  auto cluster = message;
  cluster.mutable_cluster()->set_name("y");
  const std::string form = CanonicalForm(Read(&ReadScoreQuestion, message));
  EXPECT_NE(CanonicalForm(Read(&ReadScoreQuestion, other)), form);
  EXPECT_EQ(CanonicalForm(Read(&ReadScoreQuestion, cluster)), form);
}

TEST(ScoreQuestion, NodesThatNoCandidateUsesDoNotCountInTheForm) {
  const auto message = ScoreRequest("placements: [{nodes: [0, 1, 3, 4]}]");
  auto other = message;
  other.mutable_cluster()->mutable_node_states(2)->set_slowdown(3);
  EXPECT_EQ(CanonicalForm(Read(&ReadScoreQuestion, message)),
            CanonicalForm(Read(&ReadScoreQuestion, other)));
  other.mutable_cluster()->mutable_node_states(3)->set_slowdown(3);
  EXPECT_NE(CanonicalForm(Read(&ReadScoreQuestion, message)),
            CanonicalForm(Read(&ReadScoreQuestion, other)));
}

TEST(OptimizeQuestion, FindsAllProblemsAtOnce) {
  base::Violations violations;
  const auto message = OptimizeRequest(R"(
free_nodes: [0, 0, 7]
constraints: {within: rack, segment_nodes: 3, exclude: [8]}
what_ifs: [{nodes: [{node: 6}], replace: [{node: 1, by: 9}]}]
)");
  EXPECT_FALSE(ReadOptimizeQuestion(message, "", violations).has_value());
  EXPECT_THAT(Fields(violations),
              UnorderedElementsAre(
                  "free_nodes[1]", "free_nodes[2]", "constraints.within",
                  "constraints.segment_nodes", "constraints.exclude[0]",
                  "what_ifs[0].nodes[0].node", "what_ifs[0].replace[0].by"));
}

TEST(OptimizeQuestion, TakesTheFastHealthyNodes) {
  const auto response = Answer(
      &OptimizePlacement, Read(&ReadOptimizeQuestion, OptimizeRequest("")));
  EXPECT_TRUE(response.feasible());
  EXPECT_THAT(response.placement().nodes(), UnorderedElementsAre(0, 1, 3, 4));
  ASSERT_GT(response.compared_with_size(), 0);
  for (const auto& other : response.compared_with()) {
    EXPECT_GE(other.ratio(), 1) << other.name();
  }
}

// Nodes that the first what-if of `request` chooses.
std::vector<uint32_t> NodesOfWhatIf(const std::string& request) {
  const auto response =
      Answer(&OptimizePlacement,
             Read(&ReadOptimizeQuestion, OptimizeRequest(request)));
  if (response.what_ifs_size() != 1) return {};
  const auto& nodes = response.what_ifs(0).placement().nodes();
  return {nodes.begin(), nodes.end()};
}

TEST(OptimizeQuestion, WhatIfTakesTheSubstituteForTheNode) {
  const std::string replace = "\nwhat_ifs: [{replace: [{node: 1, by: 2}]}]\n";
  for (const char* free : {"free_nodes: [0, 1, 3, 4]",     // 2 becomes free
                           "free_nodes: [0, 1, 2, 3, 4]",  // 2 is free already
                           ""}) {
    EXPECT_THAT(NodesOfWhatIf(free + replace), UnorderedElementsAre(0, 2, 3, 4))
        << free;
  }
}

TEST(OptimizeQuestion, WhatIfWithoutEnoughNodesSaysSo) {
  const auto response =
      Answer(&OptimizePlacement, Read(&ReadOptimizeQuestion, OptimizeRequest(R"(
free_nodes: [0, 1, 3, 4]
what_ifs: [{name: a fails, nodes: [{node: 0, health: failed}]}]
)")));
  EXPECT_TRUE(response.feasible());
  ASSERT_EQ(response.what_ifs_size(), 1);
  EXPECT_EQ(response.what_ifs(0).placement().nodes_size(), 0);
  EXPECT_THAT(response.provenance().notes(),
              Contains(testing::StartsWith("what if a fails: ")));
}

TEST(OptimizeQuestion, SaysWhyAJobDoesNotFit) {
  const auto response = Answer(
      &OptimizePlacement,
      Read(&ReadOptimizeQuestion, OptimizeRequest("free_nodes: [0, 1, 2]")));
  EXPECT_FALSE(response.feasible());
  EXPECT_THAT(response.infeasible_reason(), Not(testing::IsEmpty()));
}

// A hundred times the layers that fit.
constexpr char kTooLarge[] = R"(
job:
  model: {layers: 3200, hidden: 4096, heads: 32, vocabulary: 51200}
)";

TEST(PlacementQuestions, JobsThatDoNotFitInMemorySaySo) {
  const auto large =
      Parse<prism::v1::ScorePlacementsRequest>(kTooLarge).job().model();
  auto score = ScoreRequest("placements: [{nodes: [0, 1, 3, 4]}]");
  *score.mutable_job()->mutable_model() = large;
  const auto scored = Answer(&ScorePlacements, Read(&ReadScoreQuestion, score));
  EXPECT_FALSE(scored.feasible());
  EXPECT_THAT(scored.infeasible_reason(), testing::HasSubstr("GB"));
  EXPECT_EQ(scored.placements_size(), 1);

  auto optimize = OptimizeRequest("");
  *optimize.mutable_job()->mutable_model() = large;
  const auto placed =
      Answer(&OptimizePlacement, Read(&ReadOptimizeQuestion, optimize));
  EXPECT_FALSE(placed.feasible());
  EXPECT_EQ(placed.placement().nodes_size(), 4);
}

TEST(RankQuestion, SlowNodesComeLastAndFailedOnesBehindThem) {
  const auto response =
      Answer(&RankNodes, Read(&ReadRankQuestion, RankRequest("")));
  ASSERT_EQ(response.nodes_size(), 6);
  EXPECT_EQ(response.nodes(4).name(), "c");
  EXPECT_GT(response.nodes(4).relative_slowdown(), 1.2);
  EXPECT_EQ(response.nodes(4).straggler_probability(), 1);
  EXPECT_EQ(response.nodes(5).name(), "f");
  EXPECT_EQ(response.nodes(5).performance_class(), 9999u);
  EXPECT_EQ(response.nodes(0).performance_class(), 0u);
}

TEST(RankQuestion, RefusesClassesWithoutWidth) {
  base::Violations violations;
  EXPECT_FALSE(ReadRankQuestion(RankRequest("class_width: -1"), "", violations)
                   .has_value());
  EXPECT_THAT(Fields(violations), Contains("class_width"));
}

}  // namespace
}  // namespace prism::query
