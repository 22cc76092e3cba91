#include "core/step/step_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "core/step/test_support.h"

namespace prism::step {
namespace {

// Two replicas, stages and lanes, with one task of each sort.
StepGraph ValidGraph() {
  StepGraph graph = EmptyGraph({2, 2, 2}, 3);
  graph.groups = {{.lane_count = 2}, {.replica_count = 2}};
  Task grouped = ConstantTask(graph, 1);
  grouped.group = 0;
  AddSegment(graph, kForwardProgram, {ConstantTask(graph, 1), grouped});
  AddSegment(graph, kBackwardProgram, {ConstantTask(graph, 2)}, 2);
  graph.slowdown.assign(8, 1);
  graph.stage_scale.assign(2, 1);
  graph.hop_factor.assign(2, 1);
  graph.group_factor = {{}, std::vector<double>(8, 1.0)};
  return graph;
}

TEST(ValidGraphTest, IsAccepted) {
  EXPECT_TRUE(ValidGraph().Validate().ok()) << ValidGraph().Validate();
}

struct Broken {
  std::string name;
  std::function<void(StepGraph&)> breaks;
  std::string message;
};

class ValidateTest : public testing::TestWithParam<Broken> {};

TEST_P(ValidateTest, RefusesOneBrokenField) {
  StepGraph graph = ValidGraph();
  GetParam().breaks(graph);
  const absl::Status status = graph.Validate();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr(GetParam().message));
}

Task& FirstTask(StepGraph& graph) {
  return graph.programs[kForwardProgram].segments[0].tasks[0];
}

std::vector<Broken> BrokenIndices() {
  using G = StepGraph;
  return {
      {"NoStages", [](G& g) { g.stage_of.clear(); }, "no virtual stages"},
      {"StageOf", [](G& g) { g.stage_of[1] = 2; }, "stage_of"},
      {"TaskDistribution", [](G& g) { FirstTask(g).distribution = 99; },
       "task's distribution"},
      {"TaskGroup", [](G& g) { FirstTask(g).group = 2; }, "task's group"},
      {"NegativeGroup", [](G& g) { FirstTask(g).group = -2; }, "task's group"},
      {"TaskStream", [](G& g) { FirstTask(g).stream = 2; }, "task's stream"},
      {"TaskKind", [](G& g) { FirstTask(g).kind = 1; }, "task's kind"},
      {"TaskAfter", [](G& g) { FirstTask(g).after = {0}; }, "waits for"},
      {"ProgramOf", [](G& g) { g.program_of[0][0] = 3; }, "program_of"},
      {"Closing", [](G& g) { g.closing[0] = -1; }, "closing"},
      {"ForwardHop", [](G& g) { g.forward_hop[0] = 99; }, "hop"},
      {"BackwardHop", [](G& g) { g.backward_hop[0] = -1; }, "hop"},
      {"HopKind", [](G& g) { g.hop_kind = 1; }, "hop_kind"},
  };
}

std::vector<Broken> BrokenSizes() {
  using G = StepGraph;
  return {
      {"NoReplicas", [](G& g) { g.grid.replicas = 0; }, "size is below 1"},
      {"NoLanes", [](G& g) { g.grid.lanes = 0; }, "size is below 1"},
      {"NoMicrobatches", [](G& g) { g.microbatches = 0; }, "size is below 1"},
      {"UnevenChains", [](G& g) { g.chains = 2; }, "chains do not divide"},
      {"NoStreams", [](G& g) { g.streams = 0; }, "size is below 1"},
      {"SegmentCount",
       [](G& g) { g.programs[kForwardProgram].segments[0].count = 0; },
       "count"},
      {"GroupLanes", [](G& g) { g.groups[0].lane_count = 3; }, "tile"},
      {"GroupLaneStride", [](G& g) { g.groups[0].lane_stride = 0; }, "tile"},
      {"GroupReplicas", [](G& g) { g.groups[1].replica_stride = 2; }, "tile"},
      {"ProgramOfLength", [](G& g) { g.program_of[1].pop_back(); },
       "program_of"},
      {"ClosingLength", [](G& g) { g.closing.pop_back(); }, "closing"},
      {"OrderLength", [](G& g) { g.order.pop_back(); }, "order"},
      {"HopLength", [](G& g) { g.forward_hop.clear(); }, "hops"},
      {"SlowdownLength", [](G& g) { g.slowdown.pop_back(); }, "factors"},
      {"StageScaleLength", [](G& g) { g.stage_scale.pop_back(); }, "factors"},
      {"HopFactorLength", [](G& g) { g.hop_factor.pop_back(); }, "factors"},
      {"GroupFactorLength", [](G& g) { g.group_factor[1].pop_back(); },
       "group_factor"},
      {"GroupFactorCount", [](G& g) { g.group_factor.resize(3); },
       "group_factor"},
  };
}

std::vector<Broken> BrokenFactors() {
  using G = StepGraph;
  return {
      {"SlowdownZero", [](G& g) { g.slowdown[3] = 0; }, "factors"},
      {"SlowdownNan", [](G& g) { g.slowdown[3] = NAN; }, "factors"},
      {"StageScaleNegative", [](G& g) { g.stage_scale[0] = -1; }, "factors"},
      {"HopFactorInfinite", [](G& g) { g.hop_factor[0] = INFINITY; },
       "factors"},
      {"GroupFactorZero", [](G& g) { g.group_factor[1][7] = 0; },
       "group_factor"},
  };
}

std::vector<Broken> BrokenOrders() {
  using G = StepGraph;
  return {
      {"Missing", [](G& g) { g.order[0].pop_back(); }, "missing"},
      {"Twice", [](G& g) { g.order[0].push_back(g.order[0].back()); }, "twice"},
      {"BackwardFirst", [](G& g) { std::swap(g.order[1][0], g.order[1][1]); },
       "before"},
      {"OtherStage", [](G& g) { g.order[0].swap(g.order[1]); },
       "another stage"},
      {"Microbatch", [](G& g) { g.order[0][0].microbatch = 3; },
       "another stage"},
      {"VirtualStage", [](G& g) { g.order[0][0].virtual_stage = 2; },
       "another stage"},
      {"NoProgram", [](G& g) { g.order[0][0].phase = Phase::kBackwardWeight; },
       "without a program"},
  };
}

std::string Name(const testing::TestParamInfo<Broken>& test) {
  return test.param.name;
}

INSTANTIATE_TEST_SUITE_P(Indices, ValidateTest,
                         testing::ValuesIn(BrokenIndices()), Name);
INSTANTIATE_TEST_SUITE_P(Sizes, ValidateTest, testing::ValuesIn(BrokenSizes()),
                         Name);
INSTANTIATE_TEST_SUITE_P(Factors, ValidateTest,
                         testing::ValuesIn(BrokenFactors()), Name);
INSTANTIATE_TEST_SUITE_P(Orders, ValidateTest,
                         testing::ValuesIn(BrokenOrders()), Name);

// Every step in front of the simulation refuses what is not valid.
TEST(SimulateTest, RefusesAnInvalidGraph) {
  StepGraph graph = ValidGraph();
  graph.slowdown[0] = -1;
  base::InlineExecutor executor;
  EXPECT_EQ(Simulate(graph, {.samples = 100}, base::UnlimitedBudget(), executor)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SimulateNominal(graph).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace prism::step
