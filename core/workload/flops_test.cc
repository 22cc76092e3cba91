#include "core/workload/flops.h"

#include <gtest/gtest.h>

#include "core/workload/operators.h"
#include "core/workload/testing/jobs.h"

namespace prism::workload {
namespace {

using testing::Gpt;
using testing::Gpt22B;
using testing::Llama3;

// 72 B L s h^2 (1 + s/(6h) + V/(12 h L)), arXiv 2205.05198, equation 7.
double PublishedModelFlops(const Job& job) {
  const auto h = static_cast<double>(job.model.hidden);
  const auto s = static_cast<double>(job.training.sequence);
  const auto layers = static_cast<double>(job.model.layers);
  const auto v = static_cast<double>(job.model.vocabulary);
  return 72 * static_cast<double>(job.training.global_batch) * layers * s * h *
         h * (1 + s / (6 * h) + v / (12 * h * layers));
}

TEST(ModelFlopsTest, MatchesThePublishedFormula) {
  const Job job = Gpt22B();
  EXPECT_NEAR(ModelFlops(job) / PublishedModelFlops(job), 1, 1e-12);
}

TEST(ModelFlopsTest, DoesNotCountRecomputation) {
  EXPECT_EQ(ModelFlops(Gpt22B(Recompute::kFull)),
            ModelFlops(Gpt22B(Recompute::kNone)));
}

TEST(ModelFlopsTest, DoesNotDependOnTheSplit) {
  Job split = Gpt22B();
  split.parallelism = {};
  EXPECT_EQ(ModelFlops(split), ModelFlops(Gpt22B()));
}

TEST(ModelFlopsTest, GroupedQueriesAndGatesCount) {
  Job job;
  job.model = Llama3(1, 4096, 32, 14336);
  job.model.vocabulary = 1;
  job.training.sequence = 8192;
  const double h = 4096;
  const double per_token = 2 * h * (32 + 2 * 8) * 128 + 4 * 8192 * h +
                           2 * h * h + 6 * h * 14336 + 2 * h;
  EXPECT_DOUBLE_EQ(ModelFlops(job), 3 * 8192 * per_token);
}

TEST(ExecutedFlopsTest, WithoutSkippingOrRecomputationEqualModelFlops) {
  const Job job = Gpt22B();
  EXPECT_NEAR(8 * ExecutedFlops(job, 0) / ModelFlops(job), 1, 1e-12);
}

TEST(ExecutedFlopsTest, FullRecomputationMatchesThePublishedFormula) {
  const Job job = Gpt22B(Recompute::kFull);
  const double h = 6144;
  const double s = 2048;
  const double v = 51200;
  // 96 B s l h^2 (1 + s/(6h) + V/(16 l h)), arXiv 2104.04473, equation 3; the
  // last term is the head, which is not computed again.
  const double published =
      96 * 4 * s * 48 * h * h * (1 + s / (6 * h) + v / (16 * 48 * h));
  EXPECT_NEAR(8 * ExecutedFlops(job, 0) / published, 1, 1e-12);
}

TEST(ExecutedFlopsTest, SelectiveRecomputationAddsTheScores) {
  const double scores = 4.0 * 4 * 2048 * 2048 * 6144 * 48 / 8;
  EXPECT_NEAR(ExecutedFlops(Gpt22B(Recompute::kSelective), 0) -
                  ExecutedFlops(Gpt22B(Recompute::kNone), 0),
              scores, 1e-6 * scores);
}

TEST(ExecutedFlopsTest, FlashAttentionSkipsHalfTheScores) {
  Job job = Gpt22B();
  const double unfused = FlopsOf(LayerForward(job));
  job.training.attention = Attention::kFlash;
  const double scores = 4.0 * 4 * 2048 * 2048 * 6144 / 8;
  EXPECT_NEAR(unfused - FlopsOf(LayerForward(job)), scores / 2, 1e-6 * scores);
}

TEST(ExecutedFlopsTest, OnlySomeLayersMayBeComputedAgain) {
  const double none = ExecutedFlops(Gpt22B(Recompute::kNone), 0);
  const double all = ExecutedFlops(Gpt22B(Recompute::kFull), 0);
  Job job = Gpt22B(Recompute::kFull);
  job.training.recompute_layers = 12;  // of 48
  EXPECT_NEAR(ExecutedFlops(job, 0) - none, (all - none) / 4, 1e-9 * all);
}

TEST(ExecutedFlopsTest, LongStagesHaveMore) {
  Job job = Gpt22B();
  job.parallelism.pipeline = 4;
  const double even = ExecutedFlops(job, 1);
  job.parallelism.stage_layers = {6, 18, 12, 12};
  EXPECT_DOUBLE_EQ(ExecutedFlops(job, 1), 1.5 * even);
  EXPECT_DOUBLE_EQ(ExecutedFlops(job, 0), 0.5 * even);
}

TEST(ExecutedFlopsTest, LastStageHasTheHeadBesides) {
  Job job = Gpt22B();
  job.parallelism.pipeline = 4;
  const double head = 3 * 2.0 * 4 * 2048 * 6144 * 51200 / 8;
  EXPECT_NEAR(ExecutedFlops(job, 3) - ExecutedFlops(job, 0), head, 1e-6 * head);
  EXPECT_EQ(ExecutedFlops(job, 1), ExecutedFlops(job, 0));
}

}  // namespace
}  // namespace prism::workload
