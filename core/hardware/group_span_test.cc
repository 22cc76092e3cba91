#include "core/hardware/group_span.h"

#include <gtest/gtest.h>

#include <cmath>

namespace prism::hardware {
namespace {

// Pairs, nodes of 8, leaves of 16, a spine twice oversubscribed.
const std::vector<FabricLevel> kLevels = {{"pair", 2, 200e9, 1e-6, 1},
                                          {"node", 8, 50e9, 2e-6, 1},
                                          {"leaf", 16, 20e9, 4e-6, 1},
                                          {"spine", 64, 20e9, 8e-6, 2}};

GroupSpan SpanOfShape(const std::vector<int64_t>& in_unit) {
  return SpanOf(kLevels, 2, {.members = in_unit.back(), .in_unit = in_unit});
}

TEST(GroupSpanTest, HopsOfARingAddUpToAllButOne) {
  const GroupSpan span = SpanOfShape({2, 8, 16, 64});
  // 32 pairs, 8 nodes, 4 leaves.
  EXPECT_DOUBLE_EQ(span.node_ring.count, 32 + 24);
  EXPECT_DOUBLE_EQ(span.network_ring.count, 4 + 3);
  EXPECT_DOUBLE_EQ(span.node_ring.latency_seconds, 32 * 1e-6 + 24 * 2e-6);
  EXPECT_DOUBLE_EQ(span.network_ring.latency_seconds, 4 * 4e-6 + 3 * 8e-6);
}

TEST(GroupSpanTest, ChainsStayInOneNodeAndTreesJoinNodes) {
  const GroupSpan span = SpanOfShape({2, 8, 16, 64});
  EXPECT_DOUBLE_EQ(span.node_chain.count, 7);
  EXPECT_DOUBLE_EQ(span.network_tree.count, std::log2(8));
  EXPECT_DOUBLE_EQ(span.network_tree.latency_seconds, 4e-6 + 2 * 8e-6);
}

TEST(GroupSpanTest, LevelsThatAreNotCrossedDoNotCount) {
  const GroupSpan inside = SpanOfShape({2, 2, 2, 2});
  EXPECT_FALSE(inside.crosses_network());
  EXPECT_DOUBLE_EQ(inside.node_seconds_per_byte, 1 / 200e9);
  EXPECT_EQ(inside.network_seconds_per_byte, 0);
  const GroupSpan apart = SpanOfShape({1, 1, 2, 2});
  EXPECT_TRUE(apart.crosses_network());
  EXPECT_EQ(apart.node_seconds_per_byte, 0);
  EXPECT_DOUBLE_EQ(apart.network_seconds_per_byte, 1 / 20e9);
  EXPECT_DOUBLE_EQ(apart.network_latency, 4e-6);
}

TEST(GroupSpanTest, MembersOfANodeShareItsCardsAndTheSlowestLevelDecides) {
  const GroupSpan span = SpanOfShape({2, 8, 16, 64});
  EXPECT_DOUBLE_EQ(span.network_seconds_per_byte, 2 / 20e9 / 8);
  // A pair's two links lead out of it.
  EXPECT_DOUBLE_EQ(span.node_seconds_per_byte, 1 / (2 * 50e9));
}

TEST(GroupSpanTest, OfAnExchangeOnlyWhatLeavesAUnitCrosses) {
  const GroupSpan leaf = SpanOfShape({2, 8, 16, 16});
  EXPECT_DOUBLE_EQ(leaf.exchange_seconds_per_byte, 0.5 / 20e9);
  const GroupSpan spine = SpanOfShape({2, 8, 16, 64});
  EXPECT_DOUBLE_EQ(spine.exchange_seconds_per_byte, 0.75 * 2 / 20e9);
}

}  // namespace
}  // namespace prism::hardware
