#include "core/step/schedules/list_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/step/schedules/placement.h"

namespace prism::step {
namespace {

double Most(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

// The memory of random shapes is just above what one micro-batch needs.
TEST(ListScheduleTest, IsValidAndKeepsItsMemoryOnAnyShape) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> real(0.2, 3);
  for (int i = 0; i < 3000; ++i) {
    const int p = 1 + random() % 6, v = 1 + random() % 4, m = 1 + random() % 12;
    const PipelineOrder placement =
        random() % 2 == 0 ? VPlacement(p, m) : LoopedPlacement(p, v, m);
    OperationTimes times = UniformTimes(
        placement, {real(random), real(random), real(random), real(random)});
    for (double& forward : times.forward) forward *= real(random);
    const double share = (random() % 5) / 4.0;
    const std::vector<ActivationSize> sizes(placement.stage_of.size(),
                                            {1, share});
    const double need = placement.virtual_stages() / p;
    const ListPolicy policy{need + random() % 6, 0.5 * (1 + random() % 5),
                            (random() % 3) / 2.0, random() % 2 == 0};
    const auto order = ListSchedule(placement, times, sizes, policy);
    ASSERT_TRUE(order.ok()) << order.status();
    const auto status = Validate(*order);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_LE(Most(PeakActivations(*order, sizes)), policy.memory);
  }
}

// Memory of 1f1b suffices for the shortest step there is at F = B = W,
// m (F + B + W) + (p - 1) F.
TEST(ListScheduleTest, ReachesTheBoundInTheMemoryOfPlain) {
  for (int p : {2, 5, 8}) {
    const PipelineOrder placement = LoopedPlacement(p, 1, 4 * p);
    const OperationTimes times = UniformTimes(placement, {});
    const std::vector<ActivationSize> sizes(p, {1, 1});
    ListPolicy policy;
    policy.memory = p;
    policy.reach = 1;
    policy.forwards_first = true;
    const auto order = ListSchedule(placement, times, sizes, policy);
    ASSERT_TRUE(order.ok()) << order.status();
    EXPECT_EQ(RunNominally(*order, times)->seconds, 12 * p + p - 1);
  }
}

TEST(ListScheduleTest, ReachBoundsTheMicrobatchesBegun) {
  const PipelineOrder placement = LoopedPlacement(4, 1, 20);
  const OperationTimes times = UniformTimes(placement, {});
  const std::vector<ActivationSize> sizes(4, {1, 0});
  ListPolicy policy;
  policy.reach = 1;
  const auto order = ListSchedule(placement, times, sizes, policy);
  const auto peaks = PeakActivations(*order, sizes);
  for (int s = 0; s < 4; ++s) EXPECT_LE(peaks[s], 4 - s);
}

TEST(ListScheduleTest, RefusesAMemoryBelowOneMicrobatch) {
  const PipelineOrder placement = VPlacement(2, 4);
  ListPolicy policy;
  policy.memory = 1.5;
  EXPECT_EQ(ListSchedule(placement, UniformTimes(placement, {}),
                         std::vector<ActivationSize>(4), policy)
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace prism::step
