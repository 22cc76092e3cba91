// Real traces, against figures taken from them by other means: counted with a
// general JSON reader, and added up event by event.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/trace/kineto/joined_trace.h"
#include "core/trace/kineto/measured_profile.h"
#include "core/trace/kineto/test_support.h"

namespace prism::kineto {
namespace {

using ::testing::SizeIs;

JoinedTrace JoinFiles(const std::vector<std::string>& names) {
  std::vector<KernelTrace> traces;
  for (const std::string& name : names) {
    traces.push_back(ReadTestData(name));
    EXPECT_EQ(traces.back().damage.count(), 0) << name;
  }
  auto joined = Join(std::move(traces), {});
  EXPECT_TRUE(joined.ok()) << joined.status();
  return *std::move(joined);
}

struct Known {
  const char* file;
  size_t activities, collectives, streams, steps;
  StepMark mark;
  StepClock clock;
  double mean_ms;  // of the steps
};

constexpr Known kKnown[] = {
    {"alexnet.json.gz", 98, 0, 2, 1, StepMark::kWholeFile, StepClock::kDevice,
     12920.244},
    {"mi250_minitoy.json.gz", 16, 0, 1, 1, StepMark::kProfilerStep,
     StepClock::kHost, 9.288291},
    {"nccl_data.json.gz", 3774, 21, 2, 3, StepMark::kProfilerStep,
     StepClock::kHost, (222.442191 + 219.726905 + 224.936243) / 3},
    {"ns_resolution_rank-0.json.gz", 6095, 0, 1, 5, StepMark::kProfilerStep,
     StepClock::kDevice, 96.006},
    {"sampled_rank-0.json.gz", 1204, 10, 5, 2, StepMark::kProfilerStep,
     StepClock::kHost, (607.312 + 622.928) / 2},
    {"sampled_rank-1.json.gz", 1154, 10, 5, 2, StepMark::kProfilerStep,
     StepClock::kHost, (607.904 + 630.639) / 2},
};

double MeanMs(const JoinedTrace& joined) {
  double sum = 0;
  for (const JoinedStep& step : joined.steps)
    sum += static_cast<double>(step.duration_ns) / 1e6;
  return sum / static_cast<double>(joined.steps.size());
}

TEST(RealTracesTest, AreReadWhole) {
  for (const Known& known : kKnown) {
    const JoinedTrace joined = JoinFiles({known.file});
    const KernelTrace& trace = joined.traces[0];
    EXPECT_THAT(trace.activities, SizeIs(known.activities)) << known.file;
    size_t collectives = 0;
    for (const Activity& activity : trace.activities)
      collectives += activity.kind == ActivityKind::kCommunication;
    EXPECT_EQ(collectives, known.collectives) << known.file;
    EXPECT_THAT(trace.streams, SizeIs(known.streams)) << known.file;
    EXPECT_EQ(trace.unlaunched, 0) << known.file;
    EXPECT_THAT(joined.steps, SizeIs(known.steps)) << known.file;
    EXPECT_EQ(joined.mark, known.mark) << known.file;
    EXPECT_EQ(joined.clock, known.clock) << known.file;
    EXPECT_NEAR(MeanMs(joined), known.mean_ms, known.mean_ms * 1e-5)
        << known.file;
  }
}

// 20,000 draws of laws with a coefficient of variation of at most 0.03 have
// means that are right within 5 * 0.03 / sqrt(20,000) = 0.1%.
TEST(RealTracesTest, ArePredictedAsTheyWere) {
  for (const Known& known : kKnown) {
    const JoinedTrace joined = JoinFiles({known.file});
    const auto check = CheckProfile(MakeProfile(joined), joined);
    ASSERT_TRUE(check.ok()) << known.file;
    EXPECT_NEAR(check->relative_error(), 0, 0.001) << known.file;
  }
}

TEST(RealTracesTest, KnowTheBytesOfTheirCollectives) {
  const JoinedTrace joined = JoinFiles({"nccl_data.json.gz"});
  ASSERT_THAT(joined.collectives.uses, SizeIs(2));
  const CollectiveUse& reduce = joined.collectives.uses[0];
  EXPECT_EQ(reduce.kind, "all-reduce");
  EXPECT_EQ(reduce.calls, 15);
  EXPECT_EQ(reduce.group_size, 2);
  // Three steps of ResNet-50's 25,557,032 parameters in 32 bit.
  EXPECT_EQ(reduce.bytes, 3 * int64_t{4} * 25'557'032);
  EXPECT_EQ(joined.collectives.uses[1].bytes, 3 * (4 * 53120 + 8 * 53));
}

// Both traces are samples: ten of twenty collectives are in both, and those end
// within 332 us of each other.
TEST(RealTracesTest, OfTwoRanksAreJoined) {
  const JoinedTrace joined =
      JoinFiles({"sampled_rank-1.json.gz", "sampled_rank-0.json.gz"});
  EXPECT_EQ(joined.traces[0].rank, 0);
  ASSERT_THAT(joined.steps, SizeIs(2));
  EXPECT_EQ(joined.steps[0].number, 551);
  EXPECT_EQ(joined.steps[0].duration_ns, 607'904'000);
  int64_t matched = 0, waiting = 0;
  for (const CollectiveUse& use : joined.collectives.uses) {
    matched += use.matched;
    waiting += use.waiting_ns;
  }
  EXPECT_EQ(matched, 10);
  // The starts differ by 4859, 3302, 84, 22328 and 1292 us.
  EXPECT_EQ(waiting, 31'865'000);
  const auto check = CheckProfile(MakeProfile(joined), joined);
  ASSERT_TRUE(check.ok());
  EXPECT_NEAR(check->relative_error(), 0, 0.01);
}

TEST(RealTracesTest, WithoutProfilerStepsAreCutByTheOptimizer) {
  const JoinedTrace joined = JoinFiles({"resnet_kineto.json.gz"});
  EXPECT_EQ(joined.mark, StepMark::kOptimizer);
  EXPECT_EQ(joined.clock, StepClock::kDevice);
  EXPECT_THAT(joined.steps, SizeIs(11));
  EXPECT_EQ(joined.activities_in_steps, 11 * 335);
  const auto check = CheckProfile(MakeProfile(joined), joined);
  ASSERT_TRUE(check.ok());
  // A coefficient of variation of 0.58: 5 * 0.58 / sqrt(20,000).
  EXPECT_NEAR(check->relative_error(), 0, 0.021);
}

}  // namespace
}  // namespace prism::kineto
