// How fast steps are simulated: draws, samples, nominal steps and recorded
// ones, on one thread. Run by hand on an idle machine:
//
//   simulation_bench --benchmark_min_time=2
//
// The floor for Normals is 360 million a second and core, measured on a server
// core with AVX2 for xoshiro256+ and Box-Muller over arrays.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/query/document.h"
#include "core/query/question.h"
#include "core/stats/draw_kernels.h"
#include "core/stats/sampler.h"
#include "core/step/simulate.h"
#include "core/step/timeline/timeline.h"

namespace prism {
namespace {

using stats::Distribution;

// What one block of a simulation works on at a time.
constexpr size_t kRow = 1024;

class Rows {
 public:
  Rows() : replica_(kRow), sample_(kRow), first_(kRow), second_(kRow) {
    for (size_t i = 0; i < kRow; ++i) sample_[i] = i;
  }

  void Draw(uint32_t slot) {
    stats::UniformRows({7, slot, 1, replica_.data(), sample_.data()}, kRow,
                       first_.data(), second_.data());
  }

  double* first() { return first_.data(); }
  double* second() { return second_.data(); }

 private:
  std::vector<uint64_t> replica_, sample_;
  std::vector<double> first_, second_;
};

void Uniforms(benchmark::State& state) {
  Rows rows;
  uint32_t slot = 0;
  for (auto _ : state) {
    rows.Draw(slot++);
    benchmark::DoNotOptimize(rows.first()[0]);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * 2 * kRow);
}
BENCHMARK(Uniforms);

void Normals(benchmark::State& state) {
  Rows rows;
  uint32_t slot = 0;
  for (auto _ : state) {
    rows.Draw(slot++);
    stats::NormalScores(rows.first(), kRow, rows.first());
    stats::NormalScores(rows.second(), kRow, rows.second());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * 2 * kRow);
}
BENCHMARK(Normals);

// Uniforms and what a distribution makes of them.
void Draws(benchmark::State& state, const Distribution& distribution) {
  const stats::Sampler sampler(distribution);
  stats::Sampler::Scratch scratch;
  Rows rows;
  std::vector<double> drawn(kRow);
  uint32_t slot = 0;
  for (auto _ : state) {
    rows.Draw(slot++);
    sampler.Draw(rows.first(), kRow, scratch, drawn.data());
    sampler.Draw(rows.second(), kRow, scratch, drawn.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * 2 * kRow);
}
BENCHMARK_CAPTURE(Draws, normal, Distribution::MakeNormal(5, 1));
BENCHMARK_CAPTURE(Draws, lognormal, Distribution::MakeLognormal(5, 0.2));
BENCHMARK_CAPTURE(Draws, shifted_exponential,
                  Distribution::MakeShiftedExponential(1, 2));
BENCHMARK_CAPTURE(Draws, gamma, Distribution::MakeGamma(5, 0.3));
BENCHMARK_CAPTURE(Draws, empirical,
                  Distribution::MakeEmpirical({1, 2, 3, 4, 5, 6, 7}));
BENCHMARK_CAPTURE(
    Draws, mixture,
    Distribution::MakeMixture({{0.9, Distribution::MakeLognormal(1, 0.05)},
                               {0.1, Distribution::MakeGamma(3, 0.3)}}));

// tests/data/oracle/01_1f1b_tensor: 512 ranks, 16 micro-batches.
step::StepGraph ProfileGraph() {
  std::ifstream file(PRISM_SOURCE_DIR "/tests/data/oracle/01_1f1b_tensor.json");
  std::ostringstream text;
  text << file.rdbuf();
  prism::v1::Question message;
  base::Violations violations;
  query::ReadDocument(text.str(), message.mutable_profile(), violations);
  const auto question = query::ReadQuestion(message, "", violations);
  if (!question.has_value()) {
    std::cerr << "the benchmark's profile cannot be read\n";
    std::exit(1);
  }
  return step::BuildGraph(std::get<step::StepProfile>(question->subject));
}

void MonteCarloSamples(benchmark::State& state) {
  constexpr int64_t kSamples = 1000;
  const step::StepGraph graph = ProfileGraph();
  base::InlineExecutor executor;
  for (auto _ : state) {
    benchmark::DoNotOptimize(step::Simulate(
        graph, {.method = step::Method::kMonteCarlo, .samples = kSamples},
        base::UnlimitedBudget(), executor));
  }
  state.SetItemsProcessed(state.iterations() * kSamples);
}
BENCHMARK(MonteCarloSamples)->Unit(benchmark::kMillisecond);

// Four replicas, stages and tensor ranks, 12 layers a stage; a layer computes
// and has a collective of its tensor group.
step::StepProfile LayeredProfile() {
  step::StepProfile profile;
  profile.data = profile.pipeline = profile.tensor = 4;
  profile.microbatches = 16;
  const step::ProfileSegment layer = {
      .compute = Distribution::MakeNormal(1, 0.05),
      .collective = Distribution::MakeGamma(0.3, 0.2),
      .sync = step::Sync::kTensor,
      .count = 12};
  profile.forward = {layer};
  profile.backward = {layer};
  return profile;
}

step::StepProfile ShardedProfile() {
  step::StepProfile profile = LayeredProfile();
  const auto law = Distribution::MakeGamma(0.4, 0.2);
  profile.forward[0].gather = profile.backward[0].gather = law;
  profile.backward[0].scatter = law;
  profile.prefetch = 1;
  return profile;
}

step::StepProfile SlowedProfile() {
  step::StepProfile profile = ShardedProfile();
  profile.overlap_slowdown = 1.1;
  return profile;
}

int64_t DrawsOfAStep(const step::StepGraph& graph) {
  int64_t draws = 0;
  for (int phase = 0; phase < step::kPhases; ++phase) {
    for (int program : graph.program_of[phase]) {
      if (program < 0) continue;
      for (const step::Segment& segment : graph.programs[program].segments) {
        for (const step::Task& task : segment.tasks) {
          int64_t ranks = graph.grid.replicas * graph.grid.lanes;
          if (task.group != step::kNoGroup) {
            const step::Group& group = graph.groups[task.group];
            ranks /= group.lane_count * group.replica_count;
          }
          draws += segment.count * ranks;
        }
      }
    }
  }
  return draws * graph.microbatches;
}

// What streams cost: the same layers without communication beside them, with
// it, and with computation slowed by it. Items are draws.
void StreamSamples(benchmark::State& state, const step::StepProfile& profile) {
  constexpr int64_t kSamples = 200;
  const step::StepGraph graph = step::BuildGraph(profile);
  base::InlineExecutor executor;
  for (auto _ : state) {
    benchmark::DoNotOptimize(step::Simulate(
        graph, {.method = step::Method::kMonteCarlo, .samples = kSamples},
        base::UnlimitedBudget(), executor));
  }
  state.SetItemsProcessed(state.iterations() * kSamples * DrawsOfAStep(graph));
}
BENCHMARK_CAPTURE(StreamSamples, without, LayeredProfile())
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(StreamSamples, sharded, ShardedProfile())
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(StreamSamples, slowed, SlowedProfile())
    ->Unit(benchmark::kMillisecond);

void NominalStep(benchmark::State& state) {
  const step::StepGraph graph = ProfileGraph();
  for (auto _ : state) {
    benchmark::DoNotOptimize(step::SimulateNominal(graph));
  }
}
BENCHMARK(NominalStep)->Unit(benchmark::kMicrosecond);

// What recording costs beside the run it is taken from: three steps of as few
// as there can be, one rank of every stage and `extra` more, all with tasks.
void RecordedTimeline(benchmark::State& state) {
  const step::StepGraph graph = ProfileGraph();
  step::TimelineOptions options;
  options.tasks = true;
  options.samples = 3;
  for (int64_t rank = 0; rank < state.range(0); ++rank) {
    options.ranks.push_back(rank);
  }
  base::InlineExecutor executor;
  for (auto _ : state) {
    benchmark::DoNotOptimize(step::RecordTimeline(
        graph, options, base::UnlimitedBudget(), executor));
  }
}
BENCHMARK(RecordedTimeline)
    ->ArgName("extra")
    ->Arg(0)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace prism
