#include "core/query/check_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prism::query {
namespace {

using prism::v1::Cluster;
using prism::v1::NodeState;
using testing::ElementsAre;
using testing::HasSubstr;

Cluster Right() {
  Cluster cluster;
  cluster.set_name("a-1");
  cluster.set_accelerator("a100-80gb-sxm");
  cluster.set_nodes(4);
  return cluster;
}

NodeState Slow(uint32_t node, double slowdown) {
  NodeState state;
  state.set_node(node);
  state.set_slowdown(slowdown);
  return state;
}

std::vector<std::string> Fields(const base::Violations& violations) {
  std::vector<std::string> fields;
  for (const auto& violation : violations.list()) {
    fields.push_back(violation.field);
  }
  return fields;
}

TEST(CheckClusterTest, NamesAreShortWordsWithALetterFirst) {
  for (const std::string& name :
       {std::string("a"), std::string("leaf-7"), std::string(63, 'a')}) {
    EXPECT_TRUE(IsClusterName(name)) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("7a"), std::string("-a"), std::string("A"),
        std::string("a_b"), std::string("a.b"), std::string("\xc3\xa4"),
        std::string(64, 'a')}) {
    EXPECT_FALSE(IsClusterName(name)) << name;
  }
}

TEST(CheckClusterTest, ARightClusterHasNoViolations) {
  EXPECT_TRUE(CheckCluster(Right()).empty());
}

TEST(CheckClusterTest, AllThatIsWrongIsNamed) {
  Cluster cluster = Right();
  cluster.set_name("No");
  cluster.set_nodes(0);
  cluster.set_accelerator("abacus");
  EXPECT_THAT(
      Fields(CheckCluster(cluster)),
      ElementsAre("cluster.name", "cluster.accelerator", "cluster.nodes"));
}

base::Violations CheckUpdates(const std::vector<NodeState>& states) {
  return CheckNodeStates({states.begin(), states.end()}, Right());
}

TEST(CheckClusterTest, NodeStatesAreCheckedAsNodesOfTheUpdate) {
  EXPECT_TRUE(CheckUpdates({Slow(3, 1.5)}).empty());
  EXPECT_THAT(Fields(CheckUpdates({Slow(0, 1.5), Slow(4, 2), Slow(1, -1)})),
              ElementsAre("nodes[1].node", "nodes[2].slowdown"));
}

TEST(CheckClusterTest, ANodeThatIsGivenTwiceIsNamedAsOfTheUpdate) {
  const auto violations = CheckUpdates({Slow(2, 1.5), Slow(2, 1.25)});
  ASSERT_THAT(Fields(violations), ElementsAre("nodes[1].node"));
  EXPECT_THAT(violations.list()[0].description, HasSubstr("nodes[0]"));
}

}  // namespace
}  // namespace prism::query
