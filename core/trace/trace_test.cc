#include "core/trace/trace.h"

#include <gtest/gtest.h>

namespace prism::trace {
namespace {

TEST(TraceTest, EveryKindHasANameOfItsOwn) {
  for (int i = 0; i < kOperationKinds; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    EXPECT_EQ(KindNamed(KindName(kind)), kind) << KindName(kind);
  }
  EXPECT_FALSE(KindNamed("forward"));
}

TEST(TraceTest, KindsFallIntoClasses) {
  int compute = 0, point_to_point = 0, data_group = 0;
  for (int i = 0; i < kOperationKinds; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    compute += IsCompute(kind);
    point_to_point += IsPointToPoint(kind);
    data_group += IsDataGroup(kind);
  }
  EXPECT_EQ(compute, 2);
  EXPECT_EQ(point_to_point, 4);
  EXPECT_EQ(data_group, 3);
}

TEST(TraceTest, AStepLastsFromTheFirstStartToTheLastEnd) {
  Step step;
  EXPECT_EQ(MeasuredSeconds(step), 0);
  step.operations = {{.start_seconds = 2, .duration_seconds = 5},
                     {.start_seconds = 1, .duration_seconds = 1}};
  EXPECT_EQ(MeasuredSeconds(step), 6);
}

TEST(TraceTest, ATraceInMemoryCanBeReadAgain) {
  Trace trace;
  trace.steps.resize(3);
  TraceSource source(trace);
  int visits = 0;
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(source
                    .ForEach([&](const Step&) {
                      ++visits;
                      return absl::OkStatus();
                    })
                    .ok());
  }
  EXPECT_EQ(visits, 6);
}

}  // namespace
}  // namespace prism::trace
