#include "core/trace/replay/mend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/trace/replay/recorded_step.h"
#include "core/trace/testing/made_trace.h"

namespace prism::trace {
namespace {

using ::testing::HasSubstr;

// A step of `job` without every n-th operation, from `first`.
Step Holed(const MadeJob& job, size_t n, size_t first, int64_t number = 1) {
  Step whole = MakeStep(job, number);
  Step step;
  step.number = number;
  for (size_t i = 0; i < whole.operations.size(); ++i) {
    if (i % n != first) step.operations.push_back(whole.operations[i]);
  }
  return step;
}

double Simulated(const MendedStep& mended, const Sizes& sizes) {
  auto recorded = RecordedStep::From(mended.step, sizes, mended.made_up);
  EXPECT_TRUE(recorded.ok());
  KindSeconds typical;
  typical.fill(0.001);
  typical[static_cast<size_t>(OperationKind::kOptimizerClip)] = 0.05;
  typical[static_cast<size_t>(OperationKind::kGradsReduceScatter)] = 0.05;
  recorded->Bound(typical);
  std::vector<double> ends(mended.step.operations.size());
  return recorded->program().Run(recorded->work(), ends);
}

TEST(MendTest, AWholeStepStaysAsItIs) {
  const MadeJob job;
  Mender mender(job.sizes);
  const Step step = MakeStep(job);
  mender.Learn(step);
  DamageLog damage;
  const auto mended = mender.Mend(step, &damage);
  ASSERT_TRUE(mended);
  EXPECT_EQ(mended->step.operations, step.operations);
  EXPECT_TRUE(damage.empty());
}

TEST(MendTest, MissingOperationsAreMadeUpAndTheStepTakesAsLong) {
  const MadeJob job;
  const Step whole = MakeStep(job);
  for (size_t first = 0; first < 29; ++first) {
    Mender mender(job.sizes);
    mender.Learn(whole);
    const Step step = Holed(job, 29, first);
    mender.Learn(step);
    DamageLog damage;
    const auto mended = mender.Mend(step, &damage);
    ASSERT_TRUE(mended);
    ASSERT_EQ(mended->step.operations.size(), whole.operations.size());
    const auto made_up =
        std::count(mended->made_up.begin(), mended->made_up.end(), true);
    EXPECT_EQ(static_cast<size_t>(made_up),
              whole.operations.size() - step.operations.size());
    EXPECT_EQ(damage.total(), made_up);
    EXPECT_THAT(damage.entries()[0].what, HasSubstr("lacks operations"));
    for (size_t i = 0; i < whole.operations.size(); ++i) {
      EXPECT_EQ(mended->step.operations[i].kind, whole.operations[i].kind);
      EXPECT_EQ(mended->made_up[i], i % 29 == first);
    }
    EXPECT_NEAR(Simulated(*mended, job.sizes), MeasuredSeconds(whole), 0.02);
  }
}

TEST(MendTest, ATraceWithoutAnyWholeStepIsMendedFromItsFullestWorkers) {
  const MadeJob job;
  Mender mender(job.sizes);
  const Step whole = MakeStep(job);
  std::vector<Step> steps;
  for (size_t first = 0; first < 5; ++first) {
    steps.push_back(Holed(job, 97, first * 13));
    mender.Learn(steps.back());
  }
  for (const Step& step : steps) {
    const auto mended = mender.Mend(step, nullptr);
    ASSERT_TRUE(mended);
    EXPECT_EQ(mended->step.operations.size(), whole.operations.size());
  }
}

TEST(MendTest, ATruncatedStepIsLeftOutAndNamed) {
  const MadeJob job;
  Mender mender(job.sizes);
  Step step = MakeStep(job, 42);
  mender.Learn(step);
  step.operations.resize(step.operations.size() * 2 / 3);
  DamageLog damage;
  EXPECT_FALSE(mender.Mend(step, &damage));
  ASSERT_EQ(damage.entries().size(), 1);
  EXPECT_THAT(Describe(damage.entries()[0]),
              HasSubstr("step \"42\" lacks more than a tenth"));
}

TEST(MendTest, StepsOfFewerMicrobatchesAreWhole) {
  MadeJob job;
  Mender mender(job.sizes);
  mender.Learn(MakeStep(job));
  job.microbatches = 4;
  const Step shorter = MakeStep(job);
  mender.Learn(shorter);
  DamageLog damage;
  const auto mended = mender.Mend(shorter, &damage);
  ASSERT_TRUE(mended);
  EXPECT_EQ(mended->step.operations, shorter.operations);
  EXPECT_TRUE(damage.empty());
}

}  // namespace
}  // namespace prism::trace
