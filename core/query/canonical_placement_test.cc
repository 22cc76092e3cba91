#include "core/query/canonical_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "core/estimate/placement_shape.h"
#include "core/estimate/rank_slowdown.h"
#include "core/query/canonical_form.h"

namespace prism::query {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Nodes of 4 GPUs, two under a leaf, four under a pod, and a job of `data`
// replicas of one node.
JobSubject SubjectOn(std::vector<int64_t> nodes, int64_t cluster_nodes = 16) {
  JobSubject subject;
  subject.job.parallelism.tensor = 4;
  subject.job.parallelism.data = static_cast<int64_t>(nodes.size());
  subject.cluster.accelerator = "a100-80gb-sxm";
  subject.cluster.nodes = cluster_nodes;
  subject.cluster.gpus_per_node = 4;
  subject.cluster.fabric = {{"node", 4, 300e9, 1e-6, 1},
                            {"leaf", 8, 25e9, 4e-6, 1},
                            {"pod", 16, 25e9, 5e-6, 2},
                            {"spine", 4 * cluster_nodes, 25e9, 6e-6, 4}};
  subject.placement.nodes = std::move(nodes);
  return subject;
}

std::string Form(const JobSubject& subject) {
  Question question;
  question.subject = subject;
  return CanonicalForm(question);
}

TEST(CanonicalPlacement, FirstNodesNeedNoNumbers) {
  EXPECT_THAT(CanonicalPlacementOf(SubjectOn({0, 1, 2})).nodes, IsEmpty());
  EXPECT_THAT(CanonicalPlacementOf(SubjectOn({9, 8, 11})).nodes, IsEmpty());
}

TEST(CanonicalPlacement, KeepsHowNodesLie) {
  EXPECT_THAT(CanonicalPlacementOf(SubjectOn({15, 3, 14})).nodes,
              ElementsAre(0, 4, 1));
  EXPECT_THAT(CanonicalPlacementOf(SubjectOn({6, 4, 11, 7})).nodes,
              ElementsAre(0, 2, 4, 1));
}

TEST(CanonicalPlacement, NodesWithoutLevelsAboveAreAllAlike) {
  JobSubject subject = SubjectOn({7, 2, 12});
  subject.cluster.fabric.clear();
  EXPECT_THAT(CanonicalPlacementOf(subject).nodes, IsEmpty());
}

TEST(CanonicalPlacement, StatesComeAlongAndThoseOfOthersDoNot) {
  JobSubject subject = SubjectOn({15, 3, 14});
  subject.cluster.node_states = {{.node = 2, .slowdown = 9},
                                 {.node = 3, .slowdown = 2},
                                 {.node = 15, .slowdown = 3}};
  subject.cluster.path_states = {{.from = 2, .to = 3, .slowdown = 9},
                                 {.from = 3, .to = 15, .slowdown = 4}};
  const CanonicalPlacement canonical = CanonicalPlacementOf(subject);
  ASSERT_EQ(canonical.node_states.size(), 2u);
  EXPECT_EQ(canonical.node_states[0].node, 0);
  EXPECT_EQ(canonical.node_states[0].slowdown, 3);
  EXPECT_EQ(canonical.node_states[1].node, 4);
  ASSERT_EQ(canonical.path_states.size(), 1u);
  EXPECT_EQ(canonical.path_states[0].from, 0);
  EXPECT_EQ(canonical.path_states[0].to, 4);
}

TEST(CanonicalPlacement, ListedUnitsAreWrittenByNode) {
  JobSubject subject = SubjectOn({5, 1, 3}, 6);
  subject.cluster.fabric.erase(subject.cluster.fabric.begin() + 2);
  subject.cluster.fabric[1].unit_of_node = {0, 1, 0, 1, 0, 2};
  const CanonicalPlacement canonical = CanonicalPlacementOf(subject);
  EXPECT_THAT(canonical.nodes, IsEmpty());
  // Every node is a unit of the first level.
  EXPECT_THAT(canonical.units,
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(0, 1, 1)));
}

// Nodes of 4 GPUs under links of 6: how a node lies depends on its number.
TEST(CanonicalPlacement, StraddledUnitsKeepTheirNumbers) {
  JobSubject subject = SubjectOn({4, 3, 5});
  subject.cluster.fabric.erase(subject.cluster.fabric.begin() + 1,
                               subject.cluster.fabric.begin() + 3);
  subject.cluster.fabric[0].gpus = 6;
  EXPECT_THAT(CanonicalPlacementOf(subject).nodes, ElementsAre(4, 3, 5));
}

// Any placement of 4 of 16 nodes with some states; half of the cases with
// leaves of unequal size.
JobSubject RandomSubject(std::mt19937& random, bool listed) {
  std::vector<int64_t> nodes(16);
  std::iota(nodes.begin(), nodes.end(), 0);
  std::shuffle(nodes.begin(), nodes.end(), random);
  nodes.resize(4);
  JobSubject subject = SubjectOn(nodes);
  subject.job.parallelism.data = 2;
  subject.job.parallelism.pipeline = 2;
  if (listed) {
    subject.cluster.fabric.erase(subject.cluster.fabric.begin() + 2);
    subject.cluster.fabric[1].unit_of_node = {0, 0, 0, 0, 0, 1, 1, 1,
                                              1, 2, 2, 3, 3, 4, 4, 4};
  }
  if (random() % 2 == 0) {
    subject.cluster.node_states = {{.node = 5, .slowdown = 1.5}};
  }
  if (random() % 2 == 0) {
    subject.cluster.path_states = {{.from = 4, .to = 6, .slowdown = 2}};
  }
  return subject;
}

using Law = std::pair<estimate::PlacementShape, std::vector<double>>;

// All that a prediction of the subject depends on.
Law LawOf(const JobSubject& subject) {
  return {estimate::ShapeOf(subject.job, subject.cluster, subject.placement),
          estimate::RankSlowdowns(
              estimate::RankMap(subject.job.parallelism, subject.cluster,
                                subject.placement),
              estimate::MeasuredSlowdowns(subject.cluster), {})};
}

TEST(CanonicalPlacement, EqualFormsHaveEqualGraphs) {
  for (const bool listed : {false, true}) {
    std::mt19937 random(11);
    std::map<std::string, Law> law_of;
    const int rounds = 2000;
    for (int round = 0; round < rounds; ++round) {
      const JobSubject subject = RandomSubject(random, listed);
      const Law law = LawOf(subject);
      const auto [known, is_new] = law_of.insert({Form(subject), law});
      ASSERT_TRUE(known->second == law)
          << testing::PrintToString(subject.placement.nodes);
    }
    // They do not each have a form of their own.
    EXPECT_LT(law_of.size(), rounds / 4);
  }
}

}  // namespace
}  // namespace prism::query
