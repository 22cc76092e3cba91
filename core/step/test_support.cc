#include "core/step/test_support.h"

#include <gtest/gtest.h>

#include <utility>

#include "core/step/schedules/generators.h"

namespace prism::step {

StepGraph EmptyGraph(RankGrid grid, int microbatches) {
  StepGraph graph;
  graph.grid = grid;
  graph.microbatches = microbatches;
  graph.streams = 2;
  graph.stage_of.resize(grid.stages);
  for (int stage = 0; stage < grid.stages; ++stage) {
    graph.stage_of[stage] = stage;
  }
  graph.programs.resize(3);
  graph.program_of[0].assign(grid.stages, kForwardProgram);
  graph.program_of[1].assign(grid.stages, kBackwardProgram);
  graph.closing.assign(grid.stages, kClosingProgram);
  const int hop = graph.add_distribution({});
  graph.forward_hop.assign(grid.stages - 1, hop);
  graph.backward_hop.assign(grid.stages - 1, hop);
  graph.order =
      OneForwardOneBackwardOrder(grid.stages, microbatches).operations;
  return graph;
}

Task ConstantTask(StepGraph& graph, double seconds) {
  return {.distribution = graph.add_distribution(
              stats::Distribution::MakeConstant(seconds))};
}

void AddSegment(StepGraph& graph, int program, std::vector<Task> tasks,
                int64_t count) {
  graph.programs[program].segments.push_back({"", std::move(tasks), count});
}

ProfileSegment ComputeSegment(stats::Distribution compute_ms, Sync sync,
                              int64_t count) {
  ProfileSegment segment;
  segment.compute = std::move(compute_ms);
  segment.sync = sync;
  segment.count = count;
  return segment;
}

StepProfile ConstantProfile(ScheduleKind schedule, int stages, int chunks,
                            int microbatches, double forward_ms,
                            double backward_ms) {
  StepProfile profile;
  profile.pipeline = stages;
  profile.virtual_stages = chunks;
  profile.microbatches = microbatches;
  profile.schedule = schedule;
  profile.forward = {
      ComputeSegment(stats::Distribution::MakeConstant(forward_ms / chunks))};
  profile.backward = {
      ComputeSegment(stats::Distribution::MakeConstant(backward_ms / chunks))};
  return profile;
}

StepTime SimulateSamples(const StepGraph& graph, int64_t samples,
                         uint64_t random_key, int threads) {
  base::ThreadExecutor executor(threads);
  auto time = Simulate(graph,
                       {.method = Method::kMonteCarlo,
                        .samples = samples,
                        .random_key = random_key},
                       base::UnlimitedBudget(), executor);
  EXPECT_TRUE(time.ok()) << time.status();
  return time.ok() ? *time : StepTime{};
}

double ConstantSeconds(const StepGraph& graph) {
  auto nominal = SimulateNominal(graph);
  EXPECT_TRUE(nominal.ok()) << nominal.status();
  if (!nominal.ok()) return -1;
  const StepTime time = SimulateSamples(graph, 100);
  for (double seconds : time.quantile_seconds) {
    EXPECT_NEAR(seconds, nominal->seconds, 1e-12 * nominal->seconds);
  }
  return nominal->seconds;
}

}  // namespace prism::step
