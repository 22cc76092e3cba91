#include "core/trace/learn/halves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/trace/csv/csv_trace.h"
#include "core/trace/csv/meta.h"
#include "core/trace/csv/text_source.h"
#include "core/trace/learn/step_model.h"
#include "core/trace/learn/synthetic_trace.h"

namespace prism::trace {
namespace {

std::string Read(const std::string& name) {
  std::ifstream file(PRISM_SOURCE_DIR "/tests/data/straggler-whatif/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Observations ObserveFile(const std::string& name) {
  DamageLog damage;
  TextSource text(Read("trace-" + name + ".csv"));
  auto trace = CsvTrace::Open(
      text, ParseMeta(Read("meta-" + name + ".yaml"), damage), damage);
  EXPECT_TRUE(trace.ok()) << trace.status();
  auto observed = ObserveTrace(**trace, &damage);
  EXPECT_TRUE(observed.ok()) << observed.status();
  EXPECT_TRUE(damage.empty());
  return *std::move(observed);
}

// The figures of docs/model/trace-learning.md are those printed here.
void ExpectHolds(const HalvesCheck& check, const std::string& what) {
  std::printf("%s: p95 known %.2f%% predicted %.2f%%, distance %.2f %.2f\n",
              what.c_str(), 100 * check.known.p95, 100 * check.predicted.p95,
              check.known.distance, check.predicted.distance);
  EXPECT_LE(check.predicted.p95, 1.5 * check.known.p95 + 0.005) << what;
  EXPECT_LE(check.predicted.distance, check.known.distance + 0.05) << what;
}

TEST(HalvesTest, UnseenStepsOfRecordedJobsArePredicted) {
  for (const std::string name : {"ST", "AR"}) {
    const auto result = CheckByHalves(ObserveFile(name));
    ASSERT_TRUE(result.ok()) << result.status();
    ExpectHolds(result->simulated, name + " simulated");
    ExpectHolds(result->measured, name + " measured");
  }
}

// One job's halves may be alike by chance; errors are means over ten jobs.
TEST(HalvesTest, UnseenStepsOfMadeUpJobsArePredicted) {
  for (const double load : {0.0, 0.3}) {
    for (const double step : {0.0, 0.05}) {
      HalvesCheck mean;
      for (uint64_t seed = 1; seed <= 10; ++seed) {
        SyntheticJob job;
        job.replicas = 8;
        job.load_sd = load;
        job.step_sd = step;
        const auto result = CheckByHalves(Observe(MakeTrace(job, seed)),
                                          {.splits = 4, .samples = 1000});
        ASSERT_TRUE(result.ok()) << result.status();
        mean.predicted.p95 += result->simulated.predicted.p95 / 10;
        mean.predicted.distance += result->simulated.predicted.distance / 10;
        mean.known.p95 += result->simulated.known.p95 / 10;
        mean.known.distance += result->simulated.known.distance / 10;
      }
      ExpectHolds(mean, std::to_string(load) + " " + std::to_string(step));
    }
  }
}

// What prediction would be if nothing were known to be shared: computes drawn
// one by one, and the ranks' pools taken together.
TEST(HalvesTest, WithoutSharedLoadsTheTailIsMissed) {
  SyntheticJob job;
  job.load_sd = 0.3;
  job.steps = 100;
  StepModel model = *LearnSteps(Observe(MakeTrace(job, 5)));
  const std::vector<double> with = PredictSteps(model, 1000, 1).simulated;
  model.computes.bundles.clear();
  for (size_t c = 0; c < 4; ++c) model.computes.bundles.push_back({{c}});
  const std::vector<double> without = PredictSteps(model, 1000, 1).simulated;
  EXPECT_LT(without[950], 0.9 * with[950]);
}

TEST(HalvesTest, WithoutTheSlowRankTheStepIsMissed) {
  StepModel model = *LearnSteps(ObserveFile("AR"));
  const std::vector<double> with = PredictSteps(model, 500, 1).simulated;
  ComputeModel& computes = model.computes;
  const size_t components = computes.shape.components;
  for (size_t c = 0; c < components; ++c) {
    double pooled = 0;
    for (size_t d = 0; d < computes.shape.replicas; ++d)
      pooled +=
          computes.Typical(d, c) / static_cast<double>(computes.shape.replicas);
    for (size_t d = 0; d < computes.shape.replicas; ++d)
      computes.typical[d * components + c] = pooled;
  }
  EXPECT_LT(PredictSteps(model, 500, 1).simulated[475], 0.8 * with[475]);
}

TEST(HalvesTest, ThreeStepsAreTooFew) {
  const Observations observed =
      Observe(MakeTrace({.replicas = 1, .steps = 3}, 1));
  EXPECT_EQ(CheckByHalves(observed).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace prism::trace
