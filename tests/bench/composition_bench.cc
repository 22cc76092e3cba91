// How long the structured method takes, cold and on one core: from a parsed
// step profile to quantiles. Run by hand on an idle machine;
// tests/bench/composition_table puts the figures into docs/composition.md.
//
// Beside each case:
//   error_percent  standard error of p50 that the answer states
//   monte_carlo_s  what the reference method would take for the same error:
//                  EXTRAPOLATED from its speed on 100 steps of at most 16 of
//                  the replicas and from the error of a sample's median
//   off_percent    how far the worst of p05, p25, p50, p75, p95 and p99 is from
//                  the profile's brute-force distribution, in percent of what
//                  is allowed
//   fell_back      1 where the reference method answered instead
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/query/document.h"
#include "core/query/question.h"
#include "core/step/simulate.h"

namespace prism {
namespace {

using stats::Distribution;
using step::StepProfile;
using step::StepTime;

const char* const kProfiles[] = {
    "01_1f1b_tensor",    "02_gpipe_gamma",     "03_interleaved",
    "04_sharded_data",   "05_slow_gpu",        "06_uneven_gpus",
    "07_rare_stalls",    "08_bimodal",         "09_uneven_stages",
    "10_wide_data",      "11_high_noise",      "12_data_only",
    "13_shared_regimes", "14_microbatch_load", "15_sharded_load",
    "16_all_warmup",     "17_mixed",           "18_sharded_tensor",
};

constexpr size_t kMedian = 3;  // in step::kQuantileLevels
constexpr size_t kLowerQuartile = 2, kUpperQuartile = 4;

constexpr int64_t kProbeSamples = 100;
constexpr int kProbeReplicas = 16;

std::string ReadFile(const std::string& name) {
  std::ifstream file(PRISM_SOURCE_DIR "/tests/data/oracle/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

StepProfile ReadProfile(const std::string& name) {
  prism::v1::Question message;
  base::Violations violations;
  query::ReadDocument(ReadFile(name + ".json"), message.mutable_profile(),
                      violations);
  auto question = query::ReadQuestion(message, "", violations);
  if (!question.has_value()) {
    std::cerr << "cannot read the profile " << name << "\n";
    std::exit(1);
  }
  return std::get<StepProfile>(std::move(question->subject));
}

// Profile 01's operations on 16 stages of 8 lanes: at 1,024 replicas, 131,072
// ranks.
StepProfile LargeProfile(int data) {
  StepProfile profile = ReadProfile("01_1f1b_tensor");
  profile.data = data;
  profile.pipeline = 16;
  profile.tensor = 8;
  profile.microbatches = 64;
  return profile;
}

// Every rank with a slowdown of its own: normal around 1.
StepProfile WithSlowdowns(StepProfile profile, double deviation) {
  std::mt19937_64 generator(1);
  std::normal_distribution<double> slowdown(1, deviation);
  profile.slowdown.clear();
  for (int64_t rank = 0; rank < profile.ranks(); ++rank) {
    profile.slowdown.emplace_back(rank, std::max(slowdown(generator), 0.5));
  }
  return profile;
}

double CpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

StepTime Predict(const StepProfile& profile, step::Method method,
                 std::optional<int64_t> samples) {
  base::InlineExecutor executor;
  auto time = step::Simulate(step::BuildGraph(profile),
                             {.method = method, .samples = samples},
                             base::UnlimitedBudget(), executor);
  if (!time.ok()) {
    std::cerr << time.status() << "\n";
    std::exit(1);
  }
  return *std::move(time);
}

// Of the reference method. Its work grows in proportion to the replicas.
double SecondsPerStep(StepProfile profile) {
  const int replicas = profile.data;
  profile.data = std::min(replicas, kProbeReplicas);
  std::erase_if(profile.slowdown, [&](const auto& rank_and_factor) {
    return rank_and_factor.first >= profile.ranks();
  });
  const double start = CpuSeconds();
  benchmark::DoNotOptimize(
      Predict(profile, step::Method::kMonteCarlo, kProbeSamples));
  return (CpuSeconds() - start) / kProbeSamples * replicas / profile.data;
}

// Steps after which a sample's median has `error`: the deviation of the median
// of n is 1 / (2 density sqrt(n)), and that of a normal between its quartiles.
double StepsFor(const StepTime& time, double error) {
  const double quartiles = time.quantile_seconds[kUpperQuartile] -
                           time.quantile_seconds[kLowerQuartile];
  const double of_one = 0.929 * quartiles;
  return std::max(1.0, of_one * of_one / (error * error));
}

// The largest difference from the brute-force quantiles, in percent of what is
// allowed: 0.075 of the distance between the quartiles, or three standard
// errors of the brute force where that is more.
double OffPercent(const StepTime& time, const std::string& name) {
  const auto expected =
      nlohmann::json::parse(ReadFile(name + ".expected.json"));
  auto milliseconds = [&](const char* what, const char* level) {
    return expected[what][level].get<double>();
  };
  const double quartiles =
      milliseconds("quantiles", "p75") - milliseconds("quantiles", "p25");
  const char* const levels[] = {"p05", "p25", "p50", "p75", "p95", "p99"};
  double worst = 0;
  for (size_t i = 0; i < std::size(levels); ++i) {
    const double off = 1e3 * time.quantile_seconds[i + 1] -
                       milliseconds("quantiles", levels[i]);
    const double allowed = std::max(
        0.075 * quartiles, 3 * milliseconds("standard_error", levels[i]));
    worst = std::max(worst, std::abs(off) / allowed);
  }
  return 100 * worst;
}

struct Case {
  StepProfile profile;
  std::string expected;  // profile whose brute-force result is known, or empty
  double reference_seconds_per_step = 0;  // 0: not yet measured
};

void Quantiles(benchmark::State& state, Case& test) {
  StepTime time;
  for (auto _ : state) {
    time = Predict(test.profile, step::Method::kAuto, std::nullopt);
    benchmark::DoNotOptimize(time);
  }
  if (test.reference_seconds_per_step == 0) {
    test.reference_seconds_per_step = SecondsPerStep(test.profile);
  }
  const double error = time.standard_error_seconds[kMedian];
  state.counters["ranks"] = static_cast<double>(test.profile.ranks());
  state.counters["error_percent"] =
      100 * error / time.quantile_seconds[kMedian];
  state.counters["monte_carlo_s"] =
      error > 0 ? test.reference_seconds_per_step * StepsFor(time, error) : 0;
  if (!test.expected.empty()) {
    state.counters["off_percent"] = OffPercent(time, test.expected);
  }
  state.counters["fell_back"] = time.method == step::Method::kMonteCarlo;
}

void Register(const std::string& name, StepProfile profile,
              std::string expected = "") {
  auto test = std::make_shared<Case>();
  test->profile = std::move(profile);
  test->expected = std::move(expected);
  benchmark::RegisterBenchmark(name.c_str(), [test](benchmark::State& state) {
    Quantiles(state, *test);
  })->Unit(benchmark::kMillisecond);
}

void RegisterQuantiles() {
  for (const std::string name : kProfiles) {
    const StepProfile profile = ReadProfile(name);
    Register("profile/" + name + "/as_given", profile, name);
    Register("profile/" + name + "/all_differ", WithSlowdowns(profile, 0.017));
  }
  const StepProfile large = LargeProfile(1024);
  Register("large/alike", large);
  Register("large/all_differ_1.7%", WithSlowdowns(large, 0.017));
  Register("large/all_differ_0.1%", WithSlowdowns(large, 0.001));
  for (int data = 64; data <= 4096; data *= 4) {
    const StepProfile profile = LargeProfile(data);
    const std::string replicas = std::to_string(data);
    Register("replicas/" + replicas + "/alike", profile);
    Register("replicas/" + replicas + "/all_differ",
             WithSlowdowns(profile, 0.017));
  }
}

// A document in which each of 131,072 ranks has a slowdown.
std::string LargeDocument() {
  prism::v1::StepProfile message;
  base::Violations violations;
  query::ReadDocument(ReadFile("01_1f1b_tensor.json"), &message, violations);
  const StepProfile profile = WithSlowdowns(LargeProfile(1024), 0.017);
  message.mutable_layout()->set_data(profile.data);
  message.mutable_layout()->set_pipeline(profile.pipeline);
  message.mutable_layout()->set_tensor(profile.tensor);
  for (const auto& [rank, factor] : profile.slowdown) {
    (*message.mutable_slowdown())[static_cast<uint32_t>(rank)] = factor;
  }
  return query::WriteJson(message);
}

// From text to a message, or further to a checked profile.
void ReadLargeDocument(benchmark::State& state, const std::string& text,
                       bool check) {
  for (auto _ : state) {
    prism::v1::Question message;
    base::Violations violations;
    query::ReadDocument(text, message.mutable_profile(), violations);
    benchmark::DoNotOptimize(message);
    if (check) {
      benchmark::DoNotOptimize(query::ReadQuestion(message, "", violations));
    }
    if (!violations.list().empty()) std::exit(1);
  }
}

void RegisterReading() {
  const auto text = std::make_shared<std::string>(LargeDocument());
  for (const bool check : {false, true}) {
    benchmark::RegisterBenchmark(
        check ? "read/to_checked_profile" : "read/to_message",
        [text, check](benchmark::State& state) {
          ReadLargeDocument(state, *text, check);
        })
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace prism

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  prism::RegisterReading();
  prism::RegisterQuantiles();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
