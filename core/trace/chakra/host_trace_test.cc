#include "core/trace/chakra/host_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prism::chakra {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(HostTraceTest, CountsOperatorsStepsAndCollectives) {
  HostTrace trace;
  for (const char* node :
       {R"j({"id": 1, "name": "ProfilerStep#4"})j",
        R"j({"name": "aten::mul"})j", R"j({"name": "aten::mul"})j",
        R"j({"name": "nccl:all_reduce", "inputs": {"values": [],
             "shapes": [[64, 3]], "types": ["Tensor(float)"]}})j",
        R"j({"name": "nccl:all_reduce", "inputs": {"shapes": [[[64]]],
             "types": ["GenericList[Tensor(float)]"]}})j",
        R"j({"name": "nccl:broadcast"})j"})
    EXPECT_TRUE(AddNode(node, trace).ok()) << node;
  EXPECT_EQ(trace.nodes, 6);
  EXPECT_THAT(trace.steps, ElementsAre("ProfilerStep#4"));
  EXPECT_EQ(trace.operators["aten::mul"], 2);
  EXPECT_EQ(trace.collectives["all-reduce"].calls, 2);
  EXPECT_EQ(trace.collectives["all-reduce"].bytes, 768);
  EXPECT_EQ(trace.collectives["all-reduce"].unknown_bytes, 1);
  EXPECT_EQ(trace.collectives["broadcast"].unknown_bytes, 1);
}

TEST(HostTraceTest, RefusesWhatIsNoNode) {
  HostTrace trace;
  for (const char* node : {"", "{", "[]", "{}", R"({"name": 3})", "3"})
    EXPECT_FALSE(AddNode(node, trace).ok()) << node;
  EXPECT_EQ(trace.nodes, 0);
}

}  // namespace
}  // namespace prism::chakra
