#include "core/workload/activation_memory.h"

#include <gtest/gtest.h>

#include "core/workload/testing/jobs.h"

namespace prism::workload {
namespace {

using testing::Gpt22B;
using testing::Llama3;

// s b h of the 22B job.
constexpr double kElements = 2048.0 * 4 * 6144;
constexpr double kScoreTerm = 5.0 * 64 * 2048 / 6144;  // 5 a s / h

// Bytes per s b h.
double Kept(const Job& job) {
  return KeptLayerBytes(job, job.training.recompute) / kElements;
}

// Activations by arXiv 2205.05198, table 2, in bytes per s b h and layer.
TEST(ActivationMemoryTest, TensorParallelLeavesTenBytesWhole) {
  EXPECT_NEAR(Kept(Gpt22B()), 10 + 24.0 / 8 + kScoreTerm / 8, 1e-9);
}

TEST(ActivationMemoryTest, SequenceParallelSplitsEverything) {
  Job job = Gpt22B();
  job.parallelism.sequence_parallel = true;
  EXPECT_NEAR(Kept(job), (34 + kScoreTerm) / 8, 1e-9);
}

TEST(ActivationMemoryTest, SelectiveRecomputationDropsTheScores) {
  Job job = Gpt22B(Recompute::kSelective);
  job.parallelism.sequence_parallel = true;
  EXPECT_NEAR(Kept(job), 34.0 / 8, 1e-9);
}

TEST(ActivationMemoryTest, FlashAttentionNeverKeepsTheScores) {
  Job job = Gpt22B();
  job.training.attention = Attention::kFlash;
  EXPECT_NEAR(Kept(job), 10 + 24.0 / 8, 1e-9);
}

TEST(ActivationMemoryTest, FullRecomputationKeepsTheInput) {
  EXPECT_NEAR(Kept(Gpt22B(Recompute::kFull)), 2, 1e-9);
}

TEST(ActivationMemoryTest, WithoutDropoutThereAreNoMasks) {
  Job job = Gpt22B(Recompute::kSelective);
  const double with = Kept(job);
  job.training.dropout = false;
  EXPECT_NEAR(with - Kept(job), 2, 1e-9);
}

Job Llama(Framework framework, bool compiled = false) {
  Job job;
  job.model = Llama3(32, 4096, 32, 14336);
  job.training.sequence = 8192;
  job.training.framework = framework;
  job.training.compiled = compiled;
  job.training.dropout = false;
  return job;
}

constexpr double kLlamaElements = 8192.0 * 4096;

double LlamaKept(const Job& job, Recompute recompute = Recompute::kNone) {
  return KeptLayerBytes(job, recompute) / kLlamaElements;
}

TEST(ActivationMemoryTest, CountsInputsOfProductsOfALlama) {
  // Two norms and their outputs; queries, a quarter each of keys and values,
  // the result; two inputs and the output of the gate.
  EXPECT_NEAR(LlamaKept(Llama(Framework::kMegatronCore)),
              2 * (4 + 1 + 0.5 + 1 + 3 * 3.5), 1e-9);
}

TEST(ActivationMemoryTest, ContextGroupSplitsEverything) {
  Job job = Llama(Framework::kMegatronCore);
  const double whole = LlamaKept(job);
  job.parallelism.context = 4;
  EXPECT_NEAR(LlamaKept(job), whole / 4, 1e-9);
  EXPECT_NEAR(LayerBackwardBytes(job),
              LayerBackwardBytes(Llama(Framework::kMegatronCore)) / 4, 1e-3);
}

TEST(ActivationMemoryTest, ExchangedResultsAreKeptTwice) {
  Job job = Llama(Framework::kMegatronCore);
  job.parallelism.context = 4;
  const double ring = LlamaKept(job);
  job.parallelism.context_kind = ContextKind::kAllToAll;
  EXPECT_NEAR(LlamaKept(job) - ring, 2.0 / 4, 1e-9);
}

TEST(ActivationMemoryTest, EightBitInputsTakeOneByte) {
  Job job = Llama(Framework::kMegatronCore);
  job.training.precision = Precision::kFp8;
  EXPECT_NEAR(LlamaKept(job), 2 * (2 + 1 + 0.5 + 1 + 2 * 3.5) + 2 + 1 + 3.5,
              1e-9);
}

TEST(ActivationMemoryTest, ACompilerKeepsLessAndSingleOperationsMore) {
  const double by_hand = LlamaKept(Llama(Framework::kMegatronCore));
  EXPECT_LT(LlamaKept(Llama(Framework::kTorchtitan, true)), by_hand);
  EXPECT_GT(LlamaKept(Llama(Framework::kTorchtitan)), by_hand);
}

TEST(ActivationMemoryTest, TorchtitanKeepsEveryOtherProduct) {
  // The layer's input and output, queries, values and the result, and one
  // input of the gate.
  EXPECT_NEAR(LlamaKept(Llama(Framework::kTorchtitan), Recompute::kSelective),
              2 * (2 + 1 + 0.25 + 1 + 3.5), 1e-9);
}

TEST(LogitTest, EachLossHasItsCopies) {
  Job job = Llama(Framework::kMegatronLm);
  const double logits = 8192.0 * 128256;
  EXPECT_DOUBLE_EQ(LogitBytes(job), 6 * logits);
  job.training.framework = Framework::kMegatronCore;
  EXPECT_DOUBLE_EQ(LogitBytes(job), 10 * logits);
  job.training.fused_cross_entropy = true;
  EXPECT_DOUBLE_EQ(LogitBytes(job), 2 * logits);
  job = Llama(Framework::kTorchtitan);
  EXPECT_DOUBLE_EQ(LogitBytes(job), 12 * logits);
  job.parallelism.tensor = 8;
  EXPECT_DOUBLE_EQ(LogitBytes(job), 20 * logits / 8);
  job.parallelism.tensor = 1;
  job.training.fused_cross_entropy = true;
  EXPECT_DOUBLE_EQ(LogitBytes(job), 4 * logits);
}

}  // namespace
}  // namespace prism::workload
