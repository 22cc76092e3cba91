#include "core/workload/parameters.h"

#include <gtest/gtest.h>

#include "core/workload/testing/jobs.h"

namespace prism::workload {
namespace {

using testing::Gpt;
using testing::Llama3;

struct PublishedCount {
  const char* name;
  Model model;
  double parameters;
};

class PublishedCountTest : public ::testing::TestWithParam<PublishedCount> {};

TEST_P(PublishedCountTest, MatchesThePublishedSize) {
  const PublishedCount& published = GetParam();
  EXPECT_NEAR(ParameterCount(published.model) / published.parameters, 1, 1e-3)
      << published.name;
}

// Meta publishes 8.03, 70.6 and 405.9 billion; arXiv 2104.04473 rounds to
// 0.1 billion; GPT-3 (arXiv 2005.14165) has 174.6 by the same formula.
INSTANTIATE_TEST_SUITE_P(
    Models, PublishedCountTest,
    ::testing::Values(
        PublishedCount{"GPT-3 175B", Gpt(96, 12288, 96), 174.6e9},
        PublishedCount{"GPT 145.6B", Gpt(80, 12288, 96), 145.6e9},
        PublishedCount{"GPT 529.6B", Gpt(105, 20480, 128), 529.6e9},
        PublishedCount{"Llama 3 8B", Llama3(32, 4096, 32, 14336), 8.03e9},
        PublishedCount{"Llama 3 70B", Llama3(80, 8192, 64, 28672), 70.55e9},
        PublishedCount{"Llama 3 405B", Llama3(126, 16384, 128, 53248),
                       405.9e9}));

TEST(ParametersTest, LayerOfAGptHasTwelveHiddenSquared) {
  const SplitCount layer = LayerParameters(Gpt(1, 1024, 16));
  // 12 h^2 weights, 9 h biases of products, 4 h of two layer norms
  // (arXiv 2104.04473, equation 2).
  EXPECT_EQ(layer.total(), 12.0 * 1024 * 1024 + 13 * 1024);
}

TEST(ParametersTest, StagesOfAnUntiedModelSumToTheModel) {
  Job job;
  job.model = Llama3(32, 4096, 32, 14336);
  job.parallelism.pipeline = 4;
  double sum = 0;
  for (int64_t stage = 0; stage < 4; ++stage) {
    sum += StageParameters(job, stage);
  }
  EXPECT_EQ(sum, ParameterCount(job.model));
}

TEST(ParametersTest, LastStageHoldsACopyOfATiedEmbedding) {
  Job job;
  job.model = Gpt(8, 1024, 16);
  job.parallelism.pipeline = 2;
  const double both = StageParameters(job, 0) + StageParameters(job, 1);
  EXPECT_EQ(both - ParameterCount(job.model), 51200.0 * 1024);
}

TEST(ParametersTest, OneStageHoldsATiedEmbeddingOnce) {
  Job job;
  job.model = Gpt(8, 1024, 16);
  EXPECT_EQ(StageParameters(job, 0), ParameterCount(job.model));
  EXPECT_FALSE(HoldsTiedCopy(job, 0));
}

TEST(ParametersTest, TensorGroupSplitsAllButNormsAndLateBiases) {
  const SplitCount layer = LayerParameters(Gpt(1, 1024, 16));
  EXPECT_EQ(layer.whole, 6.0 * 1024);
  EXPECT_EQ(layer.per_gpu(8), layer.split / 8 + layer.whole);
}

}  // namespace
}  // namespace prism::workload
