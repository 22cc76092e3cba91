#include "core/workload/elementwise.h"

#include <gtest/gtest.h>

#include "core/workload/testing/jobs.h"

namespace prism::workload {
namespace {

using testing::Gpt22B;
using testing::Llama3;

constexpr double kTokens = 4096;

Job LlamaOf(Framework framework, bool compiled = false) {
  Job job;
  job.model = Llama3(1, 4096, 32, 14336);
  job.training.sequence = 4096;
  job.training.framework = framework;
  job.training.compiled = compiled;
  job.training.dropout = false;
  return job;
}

// Bytes and kernels of everything element-wise in one layer's forward.
Operator Forward(const Job& job) {
  const Elementwise work(job);
  Operator sum = MemoryOperator(0, 0);
  for (const Operator& op :
       {work.NormForward(NormInput::kStored),
        work.NormForward(NormInput::kJustSummed), work.ResidualForward(),
        work.ActivationForward(), work.Rotation()}) {
    sum.bytes += op.bytes;
    sum.kernels += op.kernels;
  }
  return sum;
}

TEST(ElementwiseTest, ACompilerMovesLessThanKernelsByHandAndTheyThanNone) {
  const Operator compiled = Forward(LlamaOf(Framework::kTorchtitan, true));
  const Operator by_hand = Forward(LlamaOf(Framework::kMegatronCore));
  const Operator none = Forward(LlamaOf(Framework::kTorchtitan));
  EXPECT_LT(compiled.bytes, by_hand.bytes);
  EXPECT_LT(compiled.kernels, by_hand.kernels);
  EXPECT_LT(by_hand.bytes, none.bytes);
  EXPECT_LT(by_hand.kernels, none.kernels);
}

TEST(ElementwiseTest, ANormIsReadAndWrittenOnce) {
  const Elementwise work(LlamaOf(Framework::kMegatronCore));
  EXPECT_EQ(work.NormForward(NormInput::kStored).bytes, kTokens * 4096 * 4);
}

TEST(ElementwiseTest, AGatedActivationReadsTwoAndWritesOne) {
  const Elementwise work(LlamaOf(Framework::kMegatronCore));
  EXPECT_EQ(work.ActivationForward().bytes, kTokens * 14336 * 3 * 2);
  EXPECT_EQ(work.ActivationForward().kernels, 1);
}

TEST(ElementwiseTest, WithoutDropoutAndBiasTheResidualGradientJustPasses) {
  EXPECT_EQ(
      Elementwise(LlamaOf(Framework::kMegatronCore)).ResidualBackward().bytes,
      0);
  EXPECT_GT(Elementwise(Gpt22B()).ResidualBackward().bytes, 0);
}

TEST(ElementwiseTest, DropoutWritesAMask) {
  Job job = Gpt22B();
  const double with = Elementwise(job).ResidualForward().bytes;
  job.training.dropout = false;
  EXPECT_EQ(with - Elementwise(job).ResidualForward().bytes, 4.0 * 2048 * 6144);
}

TEST(ElementwiseTest, LearnedPositionsTurnNothing) {
  EXPECT_EQ(Elementwise(Gpt22B()).Rotation().bytes, 0);
  const Elementwise work(LlamaOf(Framework::kMegatronCore));
  EXPECT_EQ(work.Rotation().bytes, kTokens * (32 + 8) * 128 * 4);
}

struct CastCase {
  Framework framework;
  Precision precision;
  double bytes;  // of an element
};

class CastTest : public ::testing::TestWithParam<CastCase> {};

TEST_P(CastTest, ReadsOnceAndWritesByRowsAndByColumns) {
  Job job = LlamaOf(GetParam().framework);
  job.training.precision = GetParam().precision;
  EXPECT_EQ(Elementwise(job).Cast(1000).bytes, 1000 * GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Precisions, CastTest,
    ::testing::Values(
        CastCase{Framework::kMegatronCore, Precision::kBf16, 0},
        CastCase{Framework::kMegatronCore, Precision::kFp8, 2 + 2 * 1},
        CastCase{Framework::kMegatronCore, Precision::kFp4, 2 + 2 * 0.5},
        CastCase{Framework::kMegatronLm, Precision::kFp8, 0}));

}  // namespace
}  // namespace prism::workload
