// Orders of 10,000 random shapes per schedule: complete, free of deadlock and
// with the memory that generators.h states.

#include "core/step/schedules/generators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "core/step/schedules/activation_memory.h"

namespace prism::step {
namespace {

constexpr int kShapes = 10000;

struct Shape {
  int p, v, m;
};

struct Schedule {
  std::string name;
  std::function<PipelineOrder(Shape)> order;
  // Micro-batches that stage s keeps at most.
  std::function<double(Shape, int s)> memory;
  bool exact = true;  // on the stage that keeps most
  // Makes a random shape one that the schedule takes.
  std::function<Shape(Shape)> fit = [](Shape shape) { return shape; };
};

void PrintTo(const Schedule& schedule, std::ostream* out) {
  *out << schedule.name;
}

class ScheduleTest : public testing::TestWithParam<Schedule> {};

TEST_P(ScheduleTest, IsValidAndKeepsItsMemoryOnAnyShape) {
  std::mt19937_64 random(20241130);
  for (int i = 0; i < kShapes; ++i) {
    const Shape shape = GetParam().fit({1 + static_cast<int>(random() % 8),
                                        1 + static_cast<int>(random() % 4),
                                        1 + static_cast<int>(random() % 20)});
    SCOPED_TRACE(testing::Message()
                 << "p " << shape.p << " v " << shape.v << " m " << shape.m);
    const PipelineOrder order = GetParam().order(shape);
    const auto status = Validate(order);
    ASSERT_TRUE(status.ok()) << status;
    const auto peaks = PeakMicrobatches(order, 1);
    double most = 0;
    for (int s = 0; s < shape.p; ++s) {
      const double stated = GetParam().memory(shape, s);
      ASSERT_LE(peaks[s], stated + 1e-9) << "stage " << s;
      most = std::max(most, stated);
    }
    if (GetParam().exact) {
      ASSERT_NEAR(*std::max_element(peaks.begin(), peaks.end()), most, 1e-9);
    }
  }
}

double InterleavedMemory(Shape x, int s) {
  if (x.m == x.p) return x.m;
  const int group = SmallestGroup(x.p, x.m);
  return std::min(2 * (x.p - s - 1) + (x.v - 1) * group + 1, x.m * x.v) /
         static_cast<double>(x.v);
}

Shape Dual(Shape x) {
  x.p = 2 * ((x.p + 1) / 2);
  x.m = 2 * x.p + 2 * (x.m / 2);
  return x;
}

Shape DualV(Shape x) {
  x.m += 2 * x.p;
  return x;
}

std::vector<Schedule> Schedules() {
  return {
      {"Gpipe", [](Shape x) { return GpipeOrder(x.p, x.m); },
       [](Shape x, int) { return x.m; }},
      {"Plain", [](Shape x) { return OneForwardOneBackwardOrder(x.p, x.m); },
       [](Shape x, int s) { return std::min(x.p - s, x.m); }},
      {"Interleaved",
       [](Shape x) {
         return *InterleavedOrder(x.p, x.v, x.m, SmallestGroup(x.p, x.m));
       },
       InterleavedMemory},
      {"BreadthFirst", [](Shape x) { return BreadthFirstOrder(x.p, x.v, x.m); },
       [](Shape x, int) { return x.m; }},
      {"H1", [](Shape x) { return ZeroBubbleH1Order(x.p, x.m); },
       [](Shape x, int) { return std::min(x.p, x.m); }},
      {"H2", [](Shape x) { return ZeroBubbleH2Order(x.p, x.m); },
       [](Shape x, int) { return std::min(2 * x.p - 1, x.m); }},
      {"ZeroBubbleV", [](Shape x) { return ZeroBubbleVOrder(x.p, x.m); },
       [](Shape x, int) { return std::min(x.p, x.m); }},
      {"HalfMemoryV", [](Shape x) { return HalfMemoryVOrder(x.p, x.m); },
       [](Shape x, int) { return (x.p + 2) / 2; }, false},
      {"ThirdMemoryV", [](Shape x) { return ThirdMemoryVOrder(x.p, x.m); },
       [](Shape x, int) { return (x.p + 4) / 3; }, false},
      {"DualPipe", [](Shape x) { return *DualPipeOrder(x.p, x.m); },
       [](Shape x, int) { return x.p + 1; }, true, Dual},
      {"DualPipeV", [](Shape x) { return *DualPipeVOrder(x.p, x.m); },
       [](Shape x, int) { return x.p + 0.5; }, true, DualV},
  };
}

INSTANTIATE_TEST_SUITE_P(Each, ScheduleTest, testing::ValuesIn(Schedules()),
                         [](const auto& test) { return test.param.name; });

// The last group takes what is left: 5 and 4 micro-batches on 4 stages.
TEST(InterleavedOrderTest, GroupsTakeChunksInTurn) {
  const PipelineOrder order = *InterleavedOrder(4, 2, 9, 5);
  std::string forwards;
  for (const Operation& op : order.operations[0]) {
    if (op.phase != Phase::kForward) continue;
    forwards +=
        std::to_string(op.microbatch) + (op.virtual_stage < 4 ? "a" : "b");
  }
  EXPECT_EQ(forwards, "0a1a2a3a4a0b1b2b3b4b5a6a7a8a5b6b7b8b");
}

TEST(InterleavedOrderTest, RefusesGroupsThatStall) {
  struct {
    int p, m, group;
  } cases[] = {{4, 10, 4}, {4, 8, 3}, {4, 8, 9}, {4, 3, 4}, {2, 2, 0}};
  for (const auto& c : cases) {
    EXPECT_EQ(InterleavedOrder(c.p, 2, c.m, c.group).status().code(),
              absl::StatusCode::kInvalidArgument)
        << c.p << ' ' << c.m << ' ' << c.group;
  }
}

TEST(SmallestGroupTest, LeavesNothingOrAFullPipeline) {
  EXPECT_EQ(SmallestGroup(4, 8), 4);
  EXPECT_EQ(SmallestGroup(4, 9), 5);  // 5 and 4
  EXPECT_EQ(SmallestGroup(4, 7), 7);
  EXPECT_EQ(SmallestGroup(4, 3), 3);
}

TEST(DualPipeOrderTest, RefusesWhatItCannotRun) {
  EXPECT_EQ(DualPipeOrder(3, 8).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DualPipeOrder(2, 5).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DualPipeOrder(4, 6).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DualPipeVOrder(4, 7).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace prism::step
