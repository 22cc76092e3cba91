#include "core/step/schedules/pipeline_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/step/schedules/generators.h"

namespace prism::step {
namespace {

using testing::HasSubstr;

struct Broken {
  std::string name;
  void (*breaks)(PipelineOrder&);
  std::string message;
};

class BrokenOrderTest : public testing::TestWithParam<Broken> {};

TEST_P(BrokenOrderTest, IsRefused) {
  PipelineOrder order = ZeroBubbleH1Order(3, 4);
  ASSERT_TRUE(Validate(order).ok());
  GetParam().breaks(order);
  const auto status = Validate(order);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

using O = PipelineOrder;

INSTANTIATE_TEST_SUITE_P(
    Each, BrokenOrderTest,
    testing::Values(
        Broken{"NoMicrobatches", [](O& o) { o.microbatches = 0; },
               "microbatches is below 1"},
        Broken{"NoVirtualStages", [](O& o) { o.stage_of.clear(); },
               "no virtual stages"},
        Broken{"UnevenChains", [](O& o) { o.chains = 2; }, "unevenly"},
        Broken{"NoSuchStage", [](O& o) { o.stage_of[1] = 3; }, "stage 3 of 3"},
        Broken{"OtherStage", [](O& o) { o.operations[1][0].virtual_stage = 2; },
               "forward of micro-batch 0 on virtual stage 2 is not its own"},
        Broken{"NoSuchMicrobatch",
               [](O& o) { o.operations[1][0].microbatch = 4; },
               "is not its own"},
        Broken{"WholeBesideItsWeightPart",
               [](O& o) { o.operations[2][1].phase = Phase::kBackward; },
               "stage 2: weight part of micro-batch 0 on virtual stage 2 runs "
               "twice"},
        Broken{"Missing", [](O& o) { o.operations[0].pop_back(); },
               "stage 0: weight part of micro-batch 3 on virtual stage 0 is "
               "missing"},
        Broken{"Twice", [](O& o) { o.operations[0][1] = o.operations[0][0]; },
               "runs twice or before"},
        Broken{"BackwardFirst",
               [](O& o) { std::swap(o.operations[2][0], o.operations[2][1]); },
               "stage 2: input part of micro-batch 0 on virtual stage 2 runs"},
        Broken{"WeightFirst",
               [](O& o) { std::swap(o.operations[0][3], o.operations[0][4]); },
               "weight part of micro-batch 0"}),
    [](const auto& test) { return test.param.name; });

TEST(ValidateTest, AStageMayRunSomeBackwardsWhole) {
  PipelineOrder order = ZeroBubbleH1Order(3, 4);
  auto& last = order.operations[1];
  ASSERT_EQ(last.back().phase, Phase::kBackwardWeight);
  const Operation weight = last.back();
  last.pop_back();
  for (Operation& op : last) {
    const bool same = op.microbatch == weight.microbatch;
    if (same && op.phase == Phase::kBackwardInput) op.phase = Phase::kBackward;
  }
  EXPECT_TRUE(Validate(order).ok()) << Validate(order);
  const auto runs = PhasesOf(order);
  EXPECT_EQ(runs[static_cast<int>(Phase::kBackward)],
            (std::vector<bool>{false, true, false}));
}

// Two chunks on one stage, in a circle with the other stage's.
TEST(ValidateTest, ACircleIsRefusedAndNamed) {
  constexpr auto F = Phase::kForward, B = Phase::kBackward;
  PipelineOrder order;
  order.stage_of = {0, 1, 0, 1};
  order.operations = {{{F, 0, 0}, {F, 2, 0}, {B, 2, 0}, {B, 0, 0}},
                      {{F, 1, 0}, {F, 3, 0}, {B, 3, 0}, {B, 1, 0}}};
  EXPECT_TRUE(Validate(order).ok());
  std::swap(order.operations[1][0], order.operations[1][1]);
  EXPECT_THAT(std::string(Validate(order).message()),
              HasSubstr("stage 0 is stuck at the forward of micro-batch 0 on "
                        "virtual stage 2"));
}

TEST(ValidateTest, AMicrobatchOfAnotherChainIsRefused) {
  PipelineOrder order = *DualPipeOrder(2, 4);
  ASSERT_TRUE(Validate(order).ok());
  order.operations[0][0].microbatch = 2;
  EXPECT_THAT(std::string(Validate(order).message()),
              HasSubstr("is not its own"));
}

}  // namespace
}  // namespace prism::step
