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

// DeepSeek-V3 (arXiv 2412.19437): 61 layers, the first three dense, 256 experts
// and a shared one. 671 billion parameters.
MixtureModel DeepSeekV3() {
  MixtureModel v3;
  v3.model = Llama3(61, 7168, 128, 18432);
  v3.model.vocabulary = 129280;
  v3.latent_attention = {.query_rank = 1536,
                         .key_value_rank = 512,
                         .plain_size = 128,
                         .position_size = 64,
                         .value_size = 128};
  v3.mixture = {.experts = 256,
                .expert_hidden = 2048,
                .shared_hidden = 2048,
                .dense_layers = 3};
  return v3;
}

// DeepSeek-V2-Lite (arXiv 2405.04434): 27 layers, the first dense, queries
// straight from the residual stream, 64 experts and two shared. 15.7 billion.
MixtureModel DeepSeekV2Lite() {
  MixtureModel lite;
  lite.model = Llama3(27, 2048, 16, 10944);
  lite.model.vocabulary = 102400;
  lite.latent_attention = {.key_value_rank = 512,
                           .plain_size = 128,
                           .position_size = 64,
                           .value_size = 128};
  lite.mixture = {.experts = 64,
                  .expert_hidden = 1408,
                  .shared_hidden = 2816,
                  .dense_layers = 1};
  return lite;
}

// Mixtral 8x7B (arXiv 2401.04088): 46.7 billion.
MixtureModel Mixtral() {
  MixtureModel mixtral;
  mixtral.model = Llama3(32, 4096, 32, 14336);
  mixtral.model.vocabulary = 32000;
  mixtral.mixture = {.experts = 8, .expert_hidden = 14336};
  return mixtral;
}

TEST(MixtureTest, CountsMatchPublishedSizes) {
  EXPECT_NEAR(ParameterCount(DeepSeekV3()) / 671e9, 1, 1e-3);
  EXPECT_NEAR(ParameterCount(DeepSeekV2Lite()) / 15.7e9, 1, 2e-3);
  EXPECT_NEAR(ParameterCount(Mixtral()) / 46.7e9, 1, 1e-3);
}

TEST(MixtureTest, WithoutExpertsCountsAsADenseModel) {
  for (const Model& model : {Gpt(24, 2048, 16), Llama3(8, 4096, 32, 14336)}) {
    MixtureModel dense;
    dense.model = model;
    EXPECT_EQ(ParameterCount(dense), ParameterCount(model));
  }
}

TEST(MixtureTest, NoMoreLayersAreDenseThanThereAre) {
  MixtureModel model = Mixtral();
  model.mixture->dense_layers = 100;
  EXPECT_EQ(ParameterCount(model), ParameterCount(model.model));
}

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
