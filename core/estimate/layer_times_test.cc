#include "core/estimate/layer_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/estimate/nominal.h"
#include "core/workload/testing/jobs.h"

namespace prism::estimate {
namespace {

using workload::Job;
using workload::Recompute;
using workload::testing::Gpt22B;

hardware::Cluster OneNode() {
  hardware::Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  return cluster;
}

LayerTimes Times(const Job& job, const calibration::Constants& constants = {}) {
  const auto times = LayerTimesOf(job, OneNode(), constants);
  EXPECT_TRUE(times.ok()) << times.status();
  return *times;
}

// Layers of arXiv 2205.05198, table 4: 22B model, eight GPUs, milliseconds.
TEST(LayerTimesTest, ForwardsAreThoseMeasured) {
  Job job = Gpt22B();
  EXPECT_NEAR(Times(job).forward.total(), 7.7e-3, 0.10 * 7.7e-3);
  job.parallelism.sequence_parallel = true;
  EXPECT_NEAR(Times(job).forward.total(), 7.2e-3, 0.10 * 7.2e-3);
}

TEST(LayerTimesTest, FullRecomputationAddsAForward) {
  const LayerTimes plain = Times(Gpt22B());
  const LayerTimes full = Times(Gpt22B(Recompute::kFull));
  EXPECT_EQ(full.forward.total(), plain.forward.total());
  EXPECT_NEAR(full.backward.total() - plain.backward.total(),
              plain.forward.total(), 1e-6);  // hosts are hidden together
}

// A layer waits for the last of t hosts at each of two collectives.
TEST(LayerTimesTest, HostsOfATensorGroupAreLateByTheSquareOfTheOthers) {
  calibration::Constants prompt;
  prompt.megatron_lm = {};
  calibration::Constants late = prompt;
  late.megatron_lm.late_host_seconds = 1;  // kernels are nothing beside it
  for (const int64_t tensor : {1, 2, 4, 8}) {
    Job job = Gpt22B();
    job.parallelism.tensor = tensor;
    const LayerTimes without = Times(job, prompt);
    const LayerTimes with = Times(job, late);
    if (tensor == 1) {
      EXPECT_EQ(with.forward.total(), without.forward.total());
      continue;
    }
    const auto others = static_cast<double>(tensor - 1);
    EXPECT_NEAR(with.forward.total(), 2 * others * others, 1e-6);
    EXPECT_NEAR(with.backward.total(), 2 * others * others, 1e-6);
  }
}

// Where kernels take longer than launching them, late hosts hardly show.
TEST(LayerTimesTest, LateHostsHideBehindLongKernels) {
  calibration::Constants prompt;
  prompt.megatron_lm = {};
  calibration::Constants late = prompt;
  late.megatron_lm.late_host_seconds = 1e-5;  // 98 times: an eighth of kernels
  const double without = Times(Gpt22B(), prompt).forward.total();
  const double with = Times(Gpt22B(), late).forward.total();
  EXPECT_GT(with, without);
  EXPECT_LT(with, 1.001 * without);
}

TEST(LayerTimesTest, AStepIsItsLayersAndWhatStandsAround) {
  Job job = Gpt22B();
  const LayerTimes layer = Times(job);
  const double layers = static_cast<double>(job.model.layers) *
                        (layer.forward.total() + layer.backward.total());
  const auto step = NominalEvaluator(job.model, OneNode())
                        .Evaluate(job.parallelism, job.training);
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_GT(step->seconds, layers);
  EXPECT_LT(step->seconds, 1.2 * layers);
}

}  // namespace
}  // namespace prism::estimate
