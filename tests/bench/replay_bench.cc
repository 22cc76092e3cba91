// How long it takes to read a recorded job, run its steps again and say who
// makes them long, on one thread:
//
//   replay_bench --benchmark_min_time=2
//
// 44 steps of 4 replicas x 4 stages and 32 micro-batches, as many operations
// as the largest trace that the replay is tested with has. Counter: operations.
#include <benchmark/benchmark.h>

#include <string>

#include "core/trace/csv/csv_trace.h"
#include "core/trace/csv/text_source.h"
#include "core/trace/replay/replay.h"
#include "core/trace/testing/made_trace.h"

namespace prism::trace {
namespace {

constexpr int kSteps = 44;

MadeJob Job() {
  MadeJob job;
  job.sizes = {.data = 4, .pipeline = 4, .tensor = 4};
  job.microbatches = 32;
  job.compute_seconds = [](const Operation& o) {
    return o.replica == 0 && o.stage == 0 ? 0.2 : 0.1;
  };
  return job;
}

std::string Rows() {
  std::string text = CsvHeading();
  for (int i = 0; i < kSteps; ++i) text += CsvRows(MakeStep(Job(), i));
  return text;
}

void ReadAndReplay(benchmark::State& state) {
  TextSource source(Rows());
  int64_t operations = 0;
  for (auto _ : state) {
    DamageLog damage;
    auto trace = CsvTrace::Open(source, Job().sizes, damage);
    if (!trace.ok()) return state.SkipWithError("the trace cannot be read");
    const auto report = Replay(**trace, {}, damage);
    if (!report.ok()) return state.SkipWithError("nothing can be replayed");
    operations = report->operations;
    benchmark::DoNotOptimize(report->culprits.data());
  }
  state.counters["operations"] = static_cast<double>(operations);
}
BENCHMARK(ReadAndReplay)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace prism::trace
