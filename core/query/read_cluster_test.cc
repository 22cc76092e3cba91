// Clusters and placements of messages: what tells nodes and paths apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/query/document.h"
#include "core/query/read_job.h"

namespace prism::query {
namespace {

using hardware::Cluster;
using hardware::Health;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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

// Six nodes of 4 GPUs, and `more`.
std::string SixNodes(const std::string& more) {
  return "accelerator: a100-80gb-sxm\nnodes: 6\ngpus_per_node: 4\n" + more;
}

Cluster Read(const std::string& more, base::Violations& violations) {
  Checker checker(violations);
  return ReadCluster(Parse<prism::v1::Cluster>(SixNodes(more)),
                     FieldPath("cluster"), checker);
}

Cluster Valid(const std::string& more) {
  base::Violations violations;
  Cluster cluster = Read(more, violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return cluster;
}

TEST(ReadCluster, NodesOfWhichNothingIsSaidAreLeftOut) {
  const Cluster cluster = Valid(R"(
node_states:
  - {node: 5, slowdown: 1}
  - {node: 4, health: healthy, reason: checked}
  - {node: 3, failures_per_day: 0}
  - {node: 2, health: drained}
  - {node: 1}
)");
  ASSERT_THAT(cluster.node_states, SizeIs(3));
  EXPECT_EQ(cluster.node_states[0].node, 2);
  EXPECT_EQ(cluster.node_states[0].health, Health::kDrained);
  EXPECT_FALSE(cluster.node_states[0].slowdown.has_value());
  EXPECT_EQ(cluster.node_states[1].failures_per_day, 0);
  EXPECT_EQ(cluster.node_states[2].slowdown, 1);
}

TEST(ReadCluster, AMeasuredFactorStandsInByItsMean) {
  const Cluster cluster = Valid(R"(
node_states: [{measured_slowdown: {lognormal: {mean: 1.02, cv: 0.01}}}]
path_states: [{from: 2, measured_slowdown: {empirical: {samples: [1, 2]}}}]
)");
  ASSERT_THAT(cluster.node_states, SizeIs(1));
  EXPECT_DOUBLE_EQ(*cluster.node_states[0].slowdown, 1.02);
  EXPECT_TRUE(cluster.node_states[0].measured_slowdown.has_value());
  ASSERT_THAT(cluster.path_states, SizeIs(1));
  EXPECT_DOUBLE_EQ(cluster.path_states[0].slowdown, 1.5);
}

TEST(ReadCluster, PathsAreSortedAndThoseAsTheOthersLeftOut) {
  const Cluster cluster = Valid(R"(
path_states:
  - {from: 4, to: 2, slowdown: 2}
  - {from: 1, to: 2}
  - {from: 0, to: 5, slowdown: 3}
)");
  ASSERT_THAT(cluster.path_states, SizeIs(2));
  EXPECT_EQ(cluster.path_states[0].to, 5);
  EXPECT_EQ(cluster.path_states[1].from, 2);
  EXPECT_EQ(cluster.path_states[1].to, 4);
}

TEST(ReadCluster, ReliabilityKeepsWhatIsLeftOpen) {
  const Cluster open = Valid("");
  EXPECT_FALSE(open.reliability.failures_per_node_day.has_value());
  EXPECT_FALSE(open.reliability.repair_seconds.has_value());
  const Cluster cluster = Valid(
      "reliability: {failures_per_node_day: 0, rate_cv: 2, repair_seconds: "
      "60, node_loss_share: 0.5}");
  EXPECT_EQ(cluster.reliability.failures_per_node_day, 0);
  EXPECT_EQ(cluster.reliability.rate_cv, 2);
  EXPECT_EQ(cluster.reliability.repair_seconds->Mean(), 60);
  EXPECT_EQ(cluster.reliability.node_loss_share, 0.5);
}

TEST(ReadCluster, ListedUnitsAreNumberedAsTheyAppear) {
  const Cluster cluster = Valid(R"(
fabric:
  - {gpus: 4, gigabytes_per_second: 300}
  - {gigabytes_per_second: 25, unit_of_node: [70, 3, 70, 9, 3, 70]}
  - {gigabytes_per_second: 25, unit_of_node: [1, 0, 1, 1, 0, 1]}
  - {gigabytes_per_second: 25}
)");
  EXPECT_THAT(cluster.fabric[1].unit_of_node, ElementsAre(0, 1, 0, 2, 1, 0));
  EXPECT_EQ(cluster.fabric[1].gpus, 12);
  EXPECT_EQ(cluster.fabric[2].gpus, 16);
  EXPECT_EQ(cluster.fabric[3].gpus, 24);
}

TEST(ReadCluster, NodesMayHaveNames) {
  EXPECT_THAT(Valid("node_names: [a, b, c, d, e, f]").node_names,
              ElementsAre("a", "b", "c", "d", "e", "f"));
}

struct WrongCluster {
  const char* more;
  const char* field;
  const char* description;
};

std::ostream& operator<<(std::ostream& out, const WrongCluster& wrong) {
  return out << wrong.field;
}

class ReadWrongCluster : public testing::TestWithParam<WrongCluster> {};

TEST_P(ReadWrongCluster, SaysWhatAndWhere) {
  base::Violations violations;
  Read(GetParam().more, violations);
  ASSERT_THAT(violations.list(), SizeIs(1)) << GetParam().more;
  EXPECT_EQ(violations.list()[0].field, GetParam().field);
  EXPECT_THAT(violations.list()[0].description,
              HasSubstr(GetParam().description));
}

INSTANTIATE_TEST_SUITE_P(
    NodeStates, ReadWrongCluster,
    testing::Values(
        WrongCluster{"node_states: [{node: 6}]", "cluster.node_states[0].node",
                     "is 6; must be from 0 to 5"},
        WrongCluster{"node_states: [{slowdown: 1, measured_slowdown: 1}]",
                     "cluster.node_states[0].measured_slowdown",
                     "is not allowed together with slowdown"},
        WrongCluster{"node_states: [{measured_slowdown: 0}]",
                     "cluster.node_states[0].measured_slowdown",
                     "has mean 0; must be above 0"},
        WrongCluster{
            "node_states: [{measured_slowdown: {empirical: {samples: [0, "
            "2]}}}]",
            "cluster.node_states[0].measured_slowdown",
            "is 0 with probability 0.5; must be above 0"},
        WrongCluster{
            "node_states: [{measured_slowdown: {normal: {mean: 1, sd: -1}}}]",
            "cluster.node_states[0].measured_slowdown.normal.sd",
            "is -1; must be at least 0"},
        WrongCluster{"node_states: [{failures_per_day: -1}]",
                     "cluster.node_states[0].failures_per_day",
                     "is -1; must be at least 0"}));

INSTANTIATE_TEST_SUITE_P(
    PathStates, ReadWrongCluster,
    testing::Values(
        WrongCluster{"path_states: [{from: 6, to: 1}]",
                     "cluster.path_states[0].from",
                     "is 6; must be from 0 to 5"},
        WrongCluster{"path_states: [{from: 1, to: 7}]",
                     "cluster.path_states[0].to", "is 7; must be from 0 to 5"},
        WrongCluster{"path_states: [{from: 1, to: 1}]",
                     "cluster.path_states[0].to",
                     "is 1, as is from; must be another node"},
        WrongCluster{"path_states: [{from: 1, to: 2}, {from: 2, to: 1}]",
                     "cluster.path_states[1]",
                     "joins 2 and 1, as does path_states[0]"},
        WrongCluster{"path_states: [{to: 1, slowdown: -2}]",
                     "cluster.path_states[0].slowdown",
                     "is -2; must be above 0"},
        WrongCluster{
            "path_states: [{to: 1, slowdown: 2, measured_slowdown: 2}]",
            "cluster.path_states[0].measured_slowdown",
            "is not allowed together with slowdown"}));

INSTANTIATE_TEST_SUITE_P(
    NamesAndReliability, ReadWrongCluster,
    testing::Values(
        WrongCluster{"node_names: [a, b]", "cluster.node_names",
                     "has 2 entries; must have one for each of the 6 nodes"},
        WrongCluster{"node_names: [a, b, c, d, b, e]", "cluster.node_names[4]",
                     "is \"b\", as is node_names[1]"},
        WrongCluster{"node_names: [a, b, c, d, e, \"\"]",
                     "cluster.node_names[5]", "is empty"},
        WrongCluster{"reliability: {failures_per_node_day: -1}",
                     "cluster.reliability.failures_per_node_day",
                     "is -1; must be at least 0"},
        WrongCluster{"reliability: {rate_cv: -1}",
                     "cluster.reliability.rate_cv", "must be at least 0"},
        WrongCluster{"reliability: {node_loss_share: 1.5}",
                     "cluster.reliability.node_loss_share",
                     "is 1.5; must be from 0 to 1"},
        WrongCluster{"reliability: {repair_seconds: -3}",
                     "cluster.reliability.repair_seconds",
                     "is -3; must be at least 0"}));

INSTANTIATE_TEST_SUITE_P(
    ListedUnits, ReadWrongCluster,
    testing::Values(
        WrongCluster{"fabric: [{gigabytes_per_second: 9, unit_of_node: [0, "
                     "1]}, {gigabytes_per_second: 9}]",
                     "cluster.fabric[0].unit_of_node",
                     "has 2 entries; must have one for each of the 6 nodes"},
        WrongCluster{"fabric: [{gigabytes_per_second: 9, unit_of_node: [0, 1, "
                     "0, 0, 0, 0]}]",
                     "cluster.fabric[0].unit_of_node",
                     "is not allowed at the last level"},
        WrongCluster{"fabric: [{gpus: 8, gigabytes_per_second: 9, "
                     "unit_of_node: [0, 1, 0, 0, 0, 0]}, "
                     "{gigabytes_per_second: 9}]",
                     "cluster.fabric[0].gpus",
                     "is 8; must be left out where unit_of_node lists"},
        WrongCluster{"fabric: [{gigabytes_per_second: 9, unit_of_node: [0, 1, "
                     "2000000, 0, 0, 0]}, {gigabytes_per_second: 9}]",
                     "cluster.fabric[0].unit_of_node[2]",
                     "must be from 0 to 1048575"},
        // Nodes 1 and 4 share a leaf.
        WrongCluster{"fabric: [{gigabytes_per_second: 9, unit_of_node: [0, 1, "
                     "0, 2, 1, 0]}, {gigabytes_per_second: 9, unit_of_node: "
                     "[5, 6, 5, 6, 5, 5]}, {gigabytes_per_second: 9}]",
                     "cluster.fabric[1].unit_of_node[4]",
                     "parts nodes 1 and 4, which share a unit"},
        // So do nodes 2 and 3, in a row.
        WrongCluster{"fabric: [{gpus: 8, gigabytes_per_second: 9}, "
                     "{gigabytes_per_second: 9, unit_of_node: [0, 0, 1, 2, 1, "
                     "1]}, {gigabytes_per_second: 9}]",
                     "cluster.fabric[1].unit_of_node[3]",
                     "parts nodes 2 and 3, which share a unit"},
        WrongCluster{"fabric: [{gigabytes_per_second: 9, unit_of_node: [0, 1, "
                     "2, 0, 1, 2]}, {gpus: 12, gigabytes_per_second: 9}, "
                     "{gigabytes_per_second: 9}]",
                     "cluster.fabric[1].gpus",
                     "parts nodes 0 and 3, which share a unit"},
        WrongCluster{"fabric: [{gigabytes_per_second: 9, unit_of_node: [0, 0, "
                     "1, 1, 1, 1]}, {gpus: 18, gigabytes_per_second: 9}, "
                     "{gigabytes_per_second: 9}]",
                     "cluster.fabric[1].gpus",
                     "is 18; must be divisible by gpus_per_node"}));

estimate::Placement Placed(const std::string& states,
                           const std::string& placement,
                           base::Violations& violations) {
  const Cluster cluster = Valid(states);
  Checker checker(violations);
  // Three nodes.
  return ReadPlacement(Parse<prism::v1::Placement>(placement), cluster, 12,
                       FieldPath("placement"), checker);
}

TEST(ReadPlacement, WithoutNodesTakesTheFirstThatTakeNewWork) {
  base::Violations violations;
  const char* states =
      "node_states: [{node: 1, health: drained}, {node: 2, health: failed}, "
      "{node: 3, health: degraded}]";
  EXPECT_THAT(Placed(states, "{}", violations).nodes, ElementsAre(0, 3, 4));
  EXPECT_THAT(
      Placed("node_states: [{node: 4, health: failed}]", "{}", violations)
          .nodes,
      IsEmpty());
  EXPECT_THAT(violations.list(), IsEmpty());
}

TEST(ReadPlacement, MayNameADrainedNode) {
  base::Violations violations;
  EXPECT_THAT(Placed("node_states: [{node: 1, health: drained}]",
                     "nodes: [1, 2, 3]", violations)
                  .nodes,
              ElementsAre(1, 2, 3));
  EXPECT_THAT(violations.list(), IsEmpty());
}

TEST(ReadPlacement, MayNotNameAFailedNode) {
  base::Violations violations;
  Placed("node_states: [{node: 2, health: failed}]", "nodes: [1, 2, 3]",
         violations);
  EXPECT_THAT(violations.list(),
              ElementsAre(base::Violation{
                  "placement.nodes[1]",
                  "is 2, which has failed; must be a node that runs"}));
}

TEST(ReadPlacement, SaysHowManyNodesAreLeft) {
  base::Violations violations;
  Placed(
      "node_states: [{node: 1, health: drained}, {node: 2, health: failed}, "
      "{node: 3, health: drained}, {node: 5, health: failed}]",
      "{}", violations);
  ASSERT_THAT(violations.list(), SizeIs(1));
  EXPECT_EQ(violations.list()[0].field, "placement.nodes");
  EXPECT_THAT(violations.list()[0].description,
              HasSubstr("the cluster has 2, the job needs 3"));
}

}  // namespace
}  // namespace prism::query
