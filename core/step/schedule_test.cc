#include "core/step/schedule.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace prism::step {
namespace {

using Kind = ScheduleKind;

// "F3" is the forward of micro-batch 3; with chunks "F3.1", on chunk 1.
std::string Written(const std::vector<Operation>& order, int stages,
                    bool chunks) {
  std::string text;
  for (const Operation& op : order) {
    if (!text.empty()) text += ' ';
    text += op.phase == Phase::kForward ? 'F' : 'B';
    text += std::to_string(op.microbatch);
    if (chunks) text += '.' + std::to_string(op.virtual_stage / stages);
  }
  return text;
}

std::vector<std::vector<Operation>> OperationsOf(Kind kind,
                                                 const PipelineShape& shape) {
  const auto order = MakeOrder(kind, shape);
  EXPECT_TRUE(order.ok()) << order.status();
  return order.ok() ? order->operations
                    : std::vector<std::vector<Operation>>(shape.stages);
}

std::vector<Kind> NamedKinds() {
  return {Kind::kGpipe,        Kind::kOneForwardOneBackward,
          Kind::kInterleaved,  Kind::kBreadthFirst,
          Kind::kZeroBubbleH1, Kind::kZeroBubbleH2,
          Kind::kZeroBubbleV,  Kind::kHalfMemoryV,
          Kind::kThirdMemoryV, Kind::kDualPipe,
          Kind::kDualPipeV};
}

TEST(MakeOrderTest, GpipeRunsAllForwardsFirst) {
  for (const auto& order : OperationsOf(Kind::kGpipe, {2, 1, 3})) {
    EXPECT_EQ(Written(order, 2, false), "F0 F1 F2 B0 B1 B2");
  }
}

TEST(MakeOrderTest, PlainWarmsUpByItsDistanceFromTheEnd) {
  const auto orders = OperationsOf(Kind::kOneForwardOneBackward, {3, 1, 4});
  EXPECT_EQ(Written(orders[0], 3, false), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(Written(orders[1], 3, false), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(Written(orders[2], 3, false), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(MakeOrderTest, PlainWithFewMicrobatchesWarmsUpWithAll) {
  const auto orders = OperationsOf(Kind::kOneForwardOneBackward, {5, 1, 2});
  EXPECT_EQ(Written(orders[0], 5, false), "F0 F1 B0 B1");
  EXPECT_EQ(Written(orders[3], 5, false), "F0 F1 B0 B1");
  EXPECT_EQ(Written(orders[4], 5, false), "F0 B0 F1 B1");
}

TEST(MakeOrderTest, InterleavedAlternatesChunksByGroupsOfStages) {
  const auto orders = OperationsOf(Kind::kInterleaved, {2, 2, 4});
  EXPECT_EQ(Written(orders[0], 2, true),
            "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 "
            "B2.1 B3.1 B2.0 B3.0");
  EXPECT_EQ(Written(orders[1], 2, true),
            "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 "
            "F3.1 B3.1 B2.0 B3.0");
}

TEST(MakeOrderTest, InterleavedWithAMicrobatchAStageRunsAllForwardsFirst) {
  const auto orders = OperationsOf(Kind::kInterleaved, {2, 2, 2});
  for (const auto& order : orders) {
    EXPECT_EQ(Written(order, 2, true),
              "F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0");
  }
}

TEST(MakeOrderTest, OperationsLieOnTheirStage) {
  const auto orders = OperationsOf(Kind::kInterleaved, {3, 2, 6});
  for (int stage = 0; stage < 3; ++stage) {
    for (const Operation& op : orders[stage]) {
      EXPECT_EQ(op.virtual_stage % 3, stage);
    }
  }
}

TEST(MakeOrderTest, EveryNamedScheduleIsValid) {
  for (const Kind kind : NamedKinds()) {
    const auto order = MakeOrder(kind, {4, DefaultChunks(kind), 8});
    ASSERT_TRUE(order.ok()) << NameOf(kind) << ": " << order.status();
    EXPECT_TRUE(Validate(*order).ok()) << NameOf(kind);
    EXPECT_EQ(SplitsBackward(*order), NeedsParts(kind)) << NameOf(kind);
  }
}

TEST(MakeOrderTest, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (const Kind kind : NamedKinds()) names.insert(NameOf(kind));
  EXPECT_EQ(names.size(), NamedKinds().size());
}

struct Refusal {
  Kind kind;
  PipelineShape shape;
  std::vector<std::string> problems;
};

TEST(CheckShapeTest, NamesEverySizeThatIsNotTaken) {
  const std::vector<Refusal> refusals = {
      {Kind::kGpipe, {2, 3, 4}, {"is 3; must be 1 for the gpipe schedule"}},
      {Kind::kZeroBubbleV,
       {2, 1, 4},
       {"is 1; must be 2 for the zb-v schedule"}},
      {Kind::kInterleaved,
       {1, 2, 4},
       {"is 1; must be above 1 for the interleaved schedule"}},
      {Kind::kDualPipe,
       {3, 4, 5},
       {"is 4; must be 2 for the dualpipe schedule",
        "is 3; must be even for the dualpipe schedule",
        "is 5; must be even for the dualpipe schedule",
        "is 5; must be at least twice the 3 stages for the dualpipe "
        "schedule"}},
      {Kind::kDualPipeV,
       {3, 2, 5},
       {"is 5; must be at least twice the 3 stages for the dualpipe-v "
        "schedule"}},
  };
  for (const Refusal& refusal : refusals) {
    std::vector<std::string> problems;
    for (const ShapeProblem& problem :
         CheckShape(refusal.kind, refusal.shape)) {
      problems.push_back(problem.what);
    }
    EXPECT_EQ(problems, refusal.problems);
    EXPECT_EQ(MakeOrder(refusal.kind, refusal.shape).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST(CheckShapeTest, InterleavingTakesAnyNumberOfMicrobatches) {
  for (int m = 1; m < 12; ++m) {
    EXPECT_TRUE(MakeOrder(Kind::kInterleaved, {4, 2, m}).ok()) << m;
  }
}

}  // namespace
}  // namespace prism::step
