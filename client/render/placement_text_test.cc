#include "client/render/placement_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/render/golden.h"

namespace prism::render {
namespace {

using prism::v1::OptimizePlacementResponse;
using prism::v1::RankNodesResponse;
using prism::v1::ScorePlacementsResponse;
using ::testing::HasSubstr;
using ::testing::Not;

const Terminal kPlain = {.columns = 80, .utf8 = false, .colour = false};

OptimizePlacementResponse Optimum() {
  return ReadTestMessage<OptimizePlacementResponse>("optimum.textproto");
}

TEST(PlacementTextTest, ScoresBeginWithTheBestGroup) {
  ExpectGolden(
      ScoresText(ReadTestMessage<ScorePlacementsResponse>("scores.textproto"),
                 kPlain),
      "scores.txt");
}

TEST(PlacementTextTest, AnOptimumSaysWhatIsLeftToGain) {
  ExpectGolden(OptimumText(Optimum(), {}, kPlain), "optimum.txt");
}

TEST(PlacementTextTest, NodesHaveTheNamesOfTheirCluster) {
  prism::v1::Cluster cluster;
  for (int i = 0; i < 14; ++i) cluster.add_node_names("n" + std::to_string(i));
  const std::string text = OptimumText(Optimum(), cluster, kPlain);
  EXPECT_THAT(text, HasSubstr("  n4 n5 n6 n7 n9 n10 n2\n"));
  EXPECT_THAT(text, HasSubstr("  n11 n12 n13\n"));
}

TEST(PlacementTextTest, AnExactOptimumSaysSo) {
  OptimizePlacementResponse response = Optimum();
  response.set_exact(true);
  const std::string text = OptimumText(response, {}, kPlain);
  EXPECT_THAT(text, HasSubstr("no placement is better"));
  EXPECT_THAT(text, Not(HasSubstr("at most")));
}

TEST(PlacementTextTest, RanksTellWhatCannotRun) {
  ExpectGolden(
      RanksText(ReadTestMessage<RankNodesResponse>("ranks.textproto"), kPlain),
      "ranks.txt");
}

TEST(PlacementTextTest, HeadingsAreInColourWhereThereIsColour) {
  const Terminal colour = {.columns = 80, .utf8 = true, .colour = true};
  EXPECT_THAT(OptimumText(Optimum(), {}, colour),
              HasSubstr("\x1b[1mNodes in rank order\x1b[0m\n"));
  EXPECT_THAT(OptimumText(Optimum(), {}, kPlain), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace prism::render
