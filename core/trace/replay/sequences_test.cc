#include "core/trace/replay/sequences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/trace/testing/made_trace.h"

namespace prism::trace {
namespace {

// A job whose first replica has long sequences at its even micro-batches in
// all steps but the first; `alone`: in its forwards only.
MadeJob UnevenJob(int step, bool alone = false) {
  MadeJob job;
  job.sizes = {.data = 2, .pipeline = 2};
  job.compute_seconds = [step, alone](const Operation& o) {
    const bool forward = o.kind == OperationKind::kForwardCompute;
    const bool is_long =
        o.replica == step % 2 && o.microbatch % 2 == 0 && (forward || !alone);
    return (forward ? 0.1 : 0.2) * (is_long ? 2.0 : 1.0);
  };
  return job;
}

struct Uneven {
  explicit Uneven(bool alone = false) {
    TypicalGatherer gatherer;
    for (int i = 0; i < 4; ++i) {
      const MadeJob job = UnevenJob(i, alone);
      sizes = job.sizes;
      steps.push_back(*RecordedStep::From(MakeStep(job, i), sizes));
      gatherer.Add(steps.back());
    }
    typical = gatherer.Finish();
    for (const RecordedStep& step : steps) {
      unevenness.Add(step, sizes, typical);
    }
  }

  Sizes sizes;
  std::vector<RecordedStep> steps;
  Typical typical;
  Unevenness unevenness;
};

double RunWith(const RecordedStep& step, const std::vector<double>& work) {
  std::vector<double> ends(work.size());
  return step.program().Run(work, ends);
}

double ComputeOf(const RecordedStep& step, const std::vector<double>& work,
                 int replica) {
  double sum = 0;
  for (size_t i = 0; i < work.size(); ++i) {
    const Operation& o = step.step().operations[i];
    if (o.replica == replica && IsCompute(o.kind)) sum += work[i];
  }
  return sum;
}

TEST(SequencesTest, LengthsThatForwardsAndBackwardsShareAreSeen) {
  const Uneven both;
  EXPECT_NEAR(both.unevenness.Correlation(), 1, 1e-9);
  EXPECT_GT(both.unevenness.Deviation(), 0.2);
  const Uneven alone(true);
  EXPECT_LT(alone.unevenness.Correlation(), 0.2);
}

TEST(SequencesTest, SortedTheLongOnesAreSharedOut) {
  const Uneven uneven;
  const RecordedStep& step = uneven.steps[0];
  const std::vector<double> sorted =
      SortSequences(step, step.work(), uneven.sizes, uneven.typical);
  EXPECT_NEAR(ComputeOf(step, sorted, 0), ComputeOf(step, sorted, 1), 1e-9);
  EXPECT_NEAR(ComputeOf(step, sorted, 0) + ComputeOf(step, sorted, 1),
              ComputeOf(step, step.work(), 0) + ComputeOf(step, step.work(), 1),
              1e-9);
  EXPECT_LT(RunWith(step, sorted), RunWith(step, step.work()) - 0.5);
}

TEST(SequencesTest, EvenOnesAllTakeTheMean) {
  const Uneven uneven;
  const RecordedStep& step = uneven.steps[0];
  const std::vector<double> even =
      EvenSequences(step, step.work(), uneven.sizes, uneven.typical);
  for (size_t i = 0; i < even.size(); ++i) {
    const Operation& o = step.step().operations[i];
    if (o.kind == OperationKind::kForwardCompute) {
      EXPECT_NEAR(even[i], 0.125, 1e-9);
    }
    if (!IsCompute(o.kind)) {
      EXPECT_EQ(even[i], step.work()[i]);
    }
  }
}

TEST(SequencesTest, ASlowWorkerIsNoLongSequence) {
  MadeJob job;
  job.compute_seconds = [](const Operation& o) {
    return o.replica == 0 && o.stage == 0 ? 0.3 : 0.1;
  };
  TypicalGatherer gatherer;
  const auto step = RecordedStep::From(MakeStep(job), job.sizes);
  gatherer.Add(*step);
  const Typical typical = gatherer.Finish();
  const auto even = EvenSequences(*step, step->work(), job.sizes, typical);
  for (size_t i = 0; i < even.size(); ++i) {
    EXPECT_NEAR(even[i], step->work()[i], 1e-9);
  }
}

}  // namespace
}  // namespace prism::trace
