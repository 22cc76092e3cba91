// The engines run every order as RunNominally() does: V-shaped placements,
// split and whole backwards, two chains, uneven chunks.

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "core/step/schedules/generators.h"
#include "core/step/schedules/nominal_run.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

// A graph of one program a phase and virtual stage, each a constant.
StepGraph GraphOf(const PipelineOrder& order, const OperationTimes& times) {
  StepGraph graph = EmptyGraph({1, order.stages(), 1});
  PutOrder(order, graph);
  const auto runs = PhasesOf(order);
  const auto seconds = [&times](Phase phase, int u) {
    switch (phase) {
      case Phase::kForward:
        return times.forward[u];
      case Phase::kBackward:
        return times.backward[u] + times.weight[u];
      case Phase::kBackwardInput:
        return times.backward[u];
      default:
        return times.weight[u];
    }
  };
  for (int phase = 0; phase < kPhases; ++phase) {
    graph.program_of[phase].assign(order.stage_of.size(), -1);
    for (int u = 0; u < order.virtual_stages(); ++u) {
      if (!runs[phase][u]) continue;
      const int program = static_cast<int>(graph.programs.size());
      graph.program_of[phase][u] = program;
      graph.programs.emplace_back();
      AddSegment(graph, program,
                 {ConstantTask(graph, seconds(static_cast<Phase>(phase), u))});
    }
  }
  graph.forward_hop.clear();
  for (double hop : times.hop) {
    graph.forward_hop.push_back(
        graph.add_distribution(stats::Distribution::MakeConstant(hop)));
  }
  graph.backward_hop = graph.forward_hop;
  return graph;
}

TEST(EngineTest, TakesAsLongAsTheNominalRun) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> real(0.2, 2);
  for (int i = 0; i < 12; ++i) {
    const int p = 2 + random() % 4, m = 1 + random() % 9;
    for (const PipelineOrder& order :
         {*InterleavedOrder(p, 3, m, SmallestGroup(p, m)),
          BreadthFirstOrder(p, 2, m), ZeroBubbleH1Order(p, m),
          ZeroBubbleH2Order(p, m), ZeroBubbleVOrder(p, m),
          HalfMemoryVOrder(p, m), ThirdMemoryVOrder(p, m),
          *DualPipeOrder(2 * p, 4 * p + 2 * m),
          *DualPipeVOrder(p, 2 * p + m)}) {
      OperationTimes times = UniformTimes(order, {1, 1, 1, real(random)});
      for (auto* list : {&times.forward, &times.backward, &times.weight}) {
        for (double& time : *list) time = real(random);
      }
      const StepGraph graph = GraphOf(order, times);
      ASSERT_TRUE(graph.Validate().ok()) << graph.Validate();
      const double expected = RunNominally(order, times)->seconds;
      EXPECT_NEAR(ConstantSeconds(graph), expected, 1e-6 * expected);
    }
  }
}

}  // namespace
}  // namespace prism::step
