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

LayerTimes Times(const Job& job) {
  const auto times = LayerTimesOf(job, OneNode());
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
