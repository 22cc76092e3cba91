// How long it takes to explain a step, on one thread:
//
//   explain_bench --benchmark_min_time=1
//
// Counters: sources, steps whose critical path was followed, samples, and the
// standard error of the largest share of the variance.
#include <benchmark/benchmark.h>

#include <fstream>
#include <iterator>
#include <string>

#include "core/query/document.h"
#include "core/query/explain_variability.h"

namespace prism {
namespace {

namespace v1 = prism::v1;

void ReadExample(const std::string& name, google::protobuf::Message* message) {
  std::ifstream file(PRISM_SOURCE_DIR "/deploy/examples/" + name);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  base::Violations violations;
  query::ReadDocument(text, message, violations);
}

void Report(benchmark::State& state, const v1::Explanation& explanation) {
  const v1::Cause* largest = nullptr;
  for (const v1::Cause& cause : explanation.causes()) {
    if (largest == nullptr ||
        cause.share_of_variance() > largest->share_of_variance()) {
      largest = &cause;
    }
  }
  state.counters["sources"] = explanation.causes_size();
  state.counters["paths"] = static_cast<double>(explanation.paths());
  state.counters["samples"] = static_cast<double>(explanation.samples());
  if (largest != nullptr) {
    state.counters["share_error"] = largest->share_of_variance_error();
  }
}

void Run(benchmark::State& state,
         const v1::ExplainVariabilityRequest& request) {
  base::Violations violations;
  const auto question = query::ReadExplainQuestion(request, "", violations);
  if (!question) {
    state.SkipWithError("the question is wrong");
    return;
  }
  base::InlineExecutor executor;
  v1::Explanation explanation;
  for (auto _ : state) {
    const auto response =
        query::ExplainVariability(*question, base::UnlimitedBudget(), executor);
    if (!response.ok()) {
      state.SkipWithError(std::string(response.status().message()).c_str());
      return;
    }
    explanation = response->explanation();
  }
  Report(state, explanation);
}

void ExplainProfile(benchmark::State& state, const std::string& profile) {
  v1::ExplainVariabilityRequest request;
  ReadExample("profiles/" + profile, request.mutable_profile());
  Run(state, request);
}

void ExplainJob(benchmark::State& state, const std::string& job,
                const std::string& cluster) {
  v1::ExplainVariabilityRequest request;
  ReadExample(job, request.mutable_job());
  ReadExample(cluster, request.mutable_cluster());
  Run(state, request);
}

BENCHMARK_CAPTURE(ExplainProfile, groups, "pipeline-with-tensor-groups.json")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ExplainProfile, slow_stage, "slow-stage.yaml")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ExplainProfile, sequences, "uneven-sequences.json")
    ->Unit(benchmark::kMillisecond);
// 64, 512 and 16,384 GPUs.
BENCHMARK_CAPTURE(ExplainJob, longhorn, "longhorn/job.yaml",
                  "longhorn/cluster.yaml")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ExplainJob, llama3_70b, "llama3-70b.yaml",
                  "h100-64-nodes.yaml")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ExplainJob, llama3_405b, "llama3-405b/job.yaml",
                  "llama3-405b/cluster.yaml")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace prism
