#include "core/estimate/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>

#include "core/step/simulate.h"
#include "core/workload/testing/jobs.h"

namespace prism::estimate {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using workload::Job;
using workload::Recompute;
using workload::testing::Gpt;
using workload::testing::Gpt22B;
using workload::testing::MegatronTraining;

hardware::Cluster ClusterOf(const char* accelerator, int64_t nodes) {
  hardware::Cluster cluster;
  cluster.accelerator = accelerator;
  cluster.nodes = nodes;
  return cluster;
}

Estimate Estimated(const Job& job, const hardware::Cluster& cluster) {
  absl::StatusOr<Estimate> estimate = BuildEstimate(job, cluster, {});
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  return *std::move(estimate);
}

double NominalSeconds(const Job& job, const hardware::Cluster& cluster) {
  const absl::StatusOr<step::NominalStep> nominal =
      step::SimulateNominal(Estimated(job, cluster).graph);
  EXPECT_TRUE(nominal.ok()) << nominal.status();
  return nominal->seconds;
}

// Rows of arXiv 2104.04473, table 1, and arXiv 2205.05198, table 5.
struct Published {
  const char* name;
  int64_t layers, hidden, heads;
  int64_t tensor, pipeline, chunks, data;
  int64_t batch, micro_batch;
  Recompute recompute;
  double seconds;
};

constexpr Recompute kFull = Recompute::kFull;
constexpr Recompute kSelective = Recompute::kSelective;

constexpr Published kPublished[] = {
    {"1.7B", 24, 2304, 24, 1, 1, 1, 32, 512, 16, kFull, 3.528},
    {"7.5B", 36, 4096, 32, 4, 1, 1, 32, 512, 16, kFull, 3.696},
    {"39.1B", 48, 8192, 64, 8, 2, 1, 32, 1536, 4, kFull, 14.453},
    {"145.6B", 80, 12288, 96, 8, 8, 2, 24, 2304, 2, kFull, 24.817},
    {"529.6B", 105, 20480, 128, 8, 35, 3, 9, 2520, 1, kFull, 54.085},
    {"22B full", 48, 6144, 64, 8, 1, 1, 1, 4, 4, kFull, 1.42},
    {"22B selective", 48, 6144, 64, 8, 1, 1, 1, 4, 4, kSelective, 1.10},
    {"175B full", 96, 12288, 96, 8, 8, 3, 1, 64, 1, kFull, 18.13},
    {"175B selective", 96, 12288, 96, 8, 8, 3, 1, 64, 1, kSelective, 13.75},
};

Job JobOf(const Published& row) {
  Job job;
  job.model = Gpt(row.layers, row.hidden, row.heads);
  job.parallelism.tensor = row.tensor;
  // The selective rows ran with sequence parallelism.
  job.parallelism.sequence_parallel = row.recompute == kSelective;
  // Those of the second paper reduced beside gradients of weights.
  job.parallelism.overlap.tensor = row.data == 1;
  job.parallelism.pipeline = row.pipeline;
  job.parallelism.virtual_stages = row.chunks;
  job.parallelism.data = row.data;
  job.parallelism.schedule = row.chunks > 1
                                 ? workload::Schedule::kInterleaved
                                 : workload::Schedule::kOneForwardOneBackward;
  job.training = MegatronTraining(row.batch, row.micro_batch, row.recompute);
  return job;
}

TEST(PublishedRunsTest, MeanAbsoluteErrorIsBelowFivePercent) {
  const hardware::Cluster cluster = ClusterOf("a100-80gb-sxm", 560);
  double sum = 0;
  for (const Published& row : kPublished) {
    const double error = NominalSeconds(JobOf(row), cluster) / row.seconds - 1;
    EXPECT_LT(std::abs(error), 0.09) << row.name;
    sum += std::abs(error);
  }
  EXPECT_LT(sum / std::size(kPublished), 0.05);
}

TEST(PublishedRunsTest, AllFitTheirMemory) {
  const hardware::Cluster cluster = ClusterOf("a100-80gb-sxm", 560);
  for (const Published& row : kPublished) {
    const Estimate estimate = Estimated(JobOf(row), cluster);
    EXPECT_TRUE(estimate.feasible)
        << row.name << ": " << estimate.infeasible_reason;
  }
}

TEST(PublishedRunsTest, NoneIsBelowItsFloor) {
  const hardware::Cluster cluster = ClusterOf("a100-80gb-sxm", 560);
  for (const Published& row : kPublished) {
    const Job job = JobOf(row);
    EXPECT_LT(Estimated(job, cluster).floor_seconds,
              NominalSeconds(job, cluster))
        << row.name;
  }
}

TEST(EstimateTest, NewerAcceleratorsAreFaster) {
  const Job job = Gpt22B(kSelective);
  const double a100 = NominalSeconds(job, ClusterOf("a100-80gb-sxm", 1));
  const double h100 = NominalSeconds(job, ClusterOf("h100-80gb-sxm", 1));
  const double b200 = NominalSeconds(job, ClusterOf("b200-180gb-sxm", 1));
  EXPECT_LT(NominalSeconds(job, ClusterOf("h200-141gb-sxm", 1)), h100);
  EXPECT_LT(h100, a100);
  EXPECT_LT(b200, h100);
}

TEST(EstimateTest, OneSlowNodeSlowsTheStep) {
  Job job = Gpt22B(kFull);
  job.parallelism.data = 4;
  job.training.global_batch = 16;
  hardware::Cluster cluster = ClusterOf("a100-80gb-sxm", 4);
  const double equal = NominalSeconds(job, cluster);
  cluster.node_states = {{.node = 2, .slowdown = 1.2}};
  EXPECT_GT(NominalSeconds(job, cluster), 1.1 * equal);
}

TEST(EstimateTest, MeasuredSlowdownsCountByTheirMeansAndAreNoted) {
  hardware::Cluster cluster = ClusterOf("a100-80gb-sxm", 2);
  cluster.node_states = {{.node = 0, .slowdown = 1.2}};
  const Job job = Gpt22B(kFull);
  const double known = NominalSeconds(job, cluster);
  EXPECT_THAT(Estimated(job, cluster).notes, Each(Not(HasSubstr("means"))));
  cluster.node_states[0].measured_slowdown =
      stats::Distribution::MakeNormal(1.2, 0.1);
  EXPECT_EQ(NominalSeconds(job, cluster), known);
  EXPECT_THAT(Estimated(job, cluster).notes,
              Contains(HasSubstr("by their means, 1 in all")));
  // The other node is not the job's.
  cluster.node_states[0].node = 1;
  EXPECT_THAT(Estimated(job, cluster).notes, Each(Not(HasSubstr("means"))));
}

TEST(EstimateTest, TooLittleMemorySaysNeedCapacityAndRemedy) {
  const Estimate estimate = Estimated(Gpt22B(), ClusterOf("v100-16gb-sxm", 1));
  EXPECT_FALSE(estimate.feasible);
  EXPECT_GT(estimate.memory.total(), estimate.memory_capacity_bytes);
  EXPECT_THAT(estimate.infeasible_reason, HasSubstr("needs"));
  EXPECT_THAT(estimate.infeasible_reason, HasSubstr("has 17.0 GB"));
  EXPECT_THAT(estimate.infeasible_reason,
              HasSubstr("reduce training.micro_batch"));
}

TEST(EstimateTest, ReplicatedStatesAreToldToShard) {
  Job job = Gpt22B(kFull);
  job.parallelism.tensor = 2;
  job.parallelism.data = 4;
  job.training.global_batch = 16;
  const Estimate estimate = Estimated(job, ClusterOf("a100-80gb-sxm", 1));
  EXPECT_FALSE(estimate.feasible);
  EXPECT_THAT(estimate.infeasible_reason,
              HasSubstr("set parallelism.sharding to zero1"));
}

TEST(EstimateTest, FloorIsExecutedFlopsOverPeak) {
  Job job = Gpt22B();
  const Estimate estimate = Estimated(job, ClusterOf("a100-80gb-sxm", 1));
  EXPECT_NEAR(estimate.floor_seconds, estimate.model_flops / 8 / 312e12, 1e-9);
}

TEST(EstimateTest, FormatWithoutUnitsIsNoted) {
  Job job = Gpt22B();
  job.training.precision = workload::Precision::kFp8;
  const Estimate estimate = Estimated(job, ClusterOf("a100-80gb-sxm", 1));
  EXPECT_EQ(estimate.peak_flops_per_gpu, 312e12);
  EXPECT_THAT(estimate.notes, ::testing::Contains(HasSubstr("no fp8 units")));
}

TEST(EstimateTest, DerivedOperatorTimesAreNoted) {
  const Job job = Gpt22B();
  EXPECT_THAT(Estimated(job, ClusterOf("a100-80gb-sxm", 1)).notes,
              Each(Not(HasSubstr("uncertain"))));
  EXPECT_THAT(Estimated(job, ClusterOf("b200-180gb-sxm", 1)).notes,
              ::testing::Contains(HasSubstr("derived from bf16 products of "
                                            "h100-80gb-sxm")));
}

TEST(EstimateTest, EightBitProductsAreFasterWhereThereAreUnits) {
  Job job = Gpt22B();
  job.training.precision = workload::Precision::kBf16;
  const double bf16 = NominalSeconds(job, ClusterOf("h100-80gb-sxm", 1));
  job.training.precision = workload::Precision::kFp8;
  EXPECT_LT(NominalSeconds(job, ClusterOf("h100-80gb-sxm", 1)), bf16);
}

}  // namespace
}  // namespace prism::estimate
