// How long it takes to say when a job finishes, and how surely, on one thread:
//
//   completion_bench --benchmark_min_time=2
//
// Counters: errors of the median (relative) and of P(by deadline), samples,
// failures a run.
#include <benchmark/benchmark.h>

#include "core/completion/projection.h"

namespace prism {
namespace {

using completion::Project;
using completion::Projection;
using completion::ProjectionOptions;
using completion::RunPlan;
using stats::Distribution;

constexpr double kDay = 86400;

// A month of 5 s steps with the published rate of arXiv:2410.21680 (RSC-1) and
// rates as unlike between nodes as observed.
RunPlan MonthOn(int64_t nodes) {
  RunPlan plan;
  plan.step = {.mean_seconds = 5,
               .standard_deviation_seconds = 0.05,
               .autocorrelation = 0.5,
               .run_factor_deviation = 0.003,
               .job_factor_deviation = 0.01};
  plan.steps = static_cast<int64_t>(27 * kDay / plan.step.mean_seconds);
  plan.evaluations = {.every_steps = 1000,
                      .seconds = Distribution::MakeLognormal(60, 0.1),
                      .after = {.steps = 1, .factor = 1.4}};
  plan.checkpoints.blocking_seconds = 5;
  plan.checkpoints.non_blocking_seconds = 60;
  plan.failures = {.nodes = nodes,
                   .per_node_day = 0.0065,
                   .node_rate_cv = 1.1,
                   .node_loss_share = 0.3};
  plan.restarts = {.seconds = Distribution::MakeLognormal(300, 0.5),
                   .after = {.steps = 1, .factor = 3}};
  plan.replacements.spares = nodes / 32;
  plan.deadlines_seconds = {30 * kDay};
  return plan;
}

void Report(benchmark::State& state, const Projection& projection) {
  state.counters["median_error"] =
      projection.quantile_error_seconds[49] / projection.quantile_seconds[49];
  state.counters["by_deadline_error"] =
      projection.by_deadline[0].standard_error;
  state.counters["by_deadline"] = projection.by_deadline[0].value;
  state.counters["samples"] = static_cast<double>(projection.samples);
  state.counters["failures"] = projection.failures.value;
}

void Run(benchmark::State& state, RunPlan plan,
         const ProjectionOptions& options) {
  base::UnlimitedBudget budget;
  base::InlineExecutor executor;
  Projection last;
  // A deadline that is neither sure nor hopeless: the hardest to tell.
  last = Project(plan, {.samples = 512}, budget, executor).value();
  plan.deadlines_seconds = {last.quantile_seconds[49]};
  for (auto _ : state) {
    last = Project(plan, options, budget, executor).value();
    benchmark::DoNotOptimize(last.samples);
  }
  Report(state, last);
}

// Until errors are small enough.
void MonthLongRun(benchmark::State& state) {
  Run(state, MonthOn(state.range(0)), {});
}
BENCHMARK(MonthLongRun)
    ->ArgName("nodes")
    ->Arg(16)
    ->Arg(256)
    ->Arg(2048)
    ->Arg(16384)
    ->Unit(benchmark::kMillisecond);

// What is needed for a median alone.
void MonthLongRunWith512Samples(benchmark::State& state) {
  Run(state, MonthOn(state.range(0)), {.samples = 512});
}
BENCHMARK(MonthLongRunWith512Samples)
    ->ArgName("nodes")
    ->Arg(2048)
    ->Arg(16384)
    ->Unit(benchmark::kMillisecond);

// Every step is drawn.
void ShortRun(benchmark::State& state) {
  RunPlan plan = MonthOn(256);
  plan.steps = 200;
  Run(state, plan, {});
}
BENCHMARK(ShortRun)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace prism
