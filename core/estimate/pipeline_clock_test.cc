#include "core/estimate/pipeline_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/step/simulate.h"

namespace prism::estimate {
namespace {

using step::Phase;
using step::ScheduleKind;

// The graph of the same pipeline: one task an operation; the closing of
// `watched` lasts longer than all the rest, so that the step ends with it.
constexpr double kLong = 1e6;

step::StepGraph GraphOf(const PipelineTimes& times, int watched) {
  step::StepGraph graph;
  graph.grid.stages = times.stages;
  step::PutOrder(
      *step::MakeOrder(times.schedule, {.stages = times.stages,
                                        .chunks = times.chunks,
                                        .microbatches = times.microbatches}),
      graph);
  const auto constant = [&graph](double seconds) {
    return graph.add_distribution(stats::Distribution::MakeConstant(seconds));
  };
  const auto program = [&](double seconds) {
    graph.programs.push_back(
        {{{.name = "", .tasks = {{.distribution = constant(seconds)}}}}});
    return static_cast<int>(graph.programs.size()) - 1;
  };
  for (int u = 0; u < times.stages * times.chunks; ++u) {
    for (auto& of_phase : graph.program_of) of_phase.push_back(-1);
    graph.program_of[0].back() = program(times.forward[u]);
    graph.program_of[1].back() = program(times.backward[u]);
  }
  for (const double hop : times.forward_hop) {
    graph.forward_hop.push_back(constant(hop));
  }
  for (const double hop : times.backward_hop) {
    graph.backward_hop.push_back(constant(hop));
  }
  for (int s = 0; s < times.stages; ++s) {
    graph.closing.push_back(program(s == watched ? kLong : 0));
  }
  return graph;
}

double EndInGraph(const PipelineTimes& times, int stage) {
  const auto nominal = step::SimulateNominal(GraphOf(times, stage));
  EXPECT_TRUE(nominal.ok()) << nominal.status();
  return nominal->seconds - kLong;
}

class RandomPipelines {
 public:
  PipelineTimes Next() {
    PipelineTimes times;
    times.schedule = static_cast<ScheduleKind>(Int(0, 2));
    const bool interleaved = times.schedule == ScheduleKind::kInterleaved;
    times.stages = Int(interleaved ? 2 : 1, 9);
    times.chunks = interleaved ? Int(1, 5) : 1;
    times.microbatches = interleaved ? times.stages * Int(1, 9) : Int(1, 60);
    const int virtual_stages = times.stages * times.chunks;
    // Alike but for the ends, all unlike, or unlike by little.
    const double spread = std::array{0.0, 1.0, 1e-3}[Int(0, 2)];
    const bool hops = Int(0, 1) == 1;
    for (int u = 0; u < virtual_stages; ++u) {
      times.forward.push_back(1 + spread * Share());
      times.backward.push_back(2 + spread * Share());
    }
    times.forward.front() += Share();
    times.backward.back() += Share();
    for (int u = 0; u + 1 < virtual_stages; ++u) {
      times.forward_hop.push_back(hops ? Share() : 0);
      times.backward_hop.push_back(hops ? Share() : 0);
    }
    return times;
  }

  int Int(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }
  double Share() { return std::uniform_real_distribution<double>()(random_); }

 private:
  std::mt19937 random_{7};
};

TEST(PipelineClockTest, EndsAreThoseOfTheGraph) {
  RandomPipelines pipelines;
  PipelineClock clock;
  for (int i = 0; i < 1500; ++i) {
    const PipelineTimes times = pipelines.Next();
    const int stage = pipelines.Int(0, times.stages - 1);
    const double expected = EndInGraph(times, stage);
    ASSERT_NEAR(clock.StageEnds(times)[stage], expected, 1e-9 * kLong * 1e-3)
        << "schedule " << static_cast<int>(times.schedule) << ", stages "
        << times.stages << ", chunks " << times.chunks << ", microbatches "
        << times.microbatches << ", stage " << stage;
  }
}

TEST(PipelineClockTest, ManyMicrobatchesCostNoAccuracy) {
  PipelineTimes times;
  times.stages = 4;
  times.microbatches = 100000;
  times.forward = {1.1, 1, 1, 1.3};
  times.backward = {2, 2.1, 2, 2.2};
  times.forward_hop = times.backward_hop = {0.01, 0.01, 0.01};
  PipelineClock clock;
  // The last stage never waits; its first forward and the last backward of the
  // others stand beside it.
  const double expected = 100000 * 3.5 + 3.1 + 6.1 + 0.06;
  EXPECT_NEAR(clock.StageEnds(times)[0], expected, 1e-9 * expected);
}

}  // namespace
}  // namespace prism::estimate
