#include "core/step/streams/stream_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prism::step {
namespace {

using testing::ElementsAre;

// Kinds that tell tasks apart.
enum Kind { kGather, kCompute, kCollective, kScatter, kReduce };

Task Of(Kind kind) { return {.kind = kind}; }

// The tasks of a program in the order of their issue: "GCSR", T for a
// collective.
std::string Letters(const Program& program) {
  std::string letters;
  for (const Segment& segment : program.segments) {
    for (int64_t i = 0; i < segment.count; ++i) {
      for (const Task& task : segment.tasks) letters += "GCTSR"[task.kind];
    }
  }
  return letters;
}

SegmentTasks Layers(int64_t count) {
  SegmentTasks layers;
  layers.gather = Of(kGather);
  layers.compute = Of(kCompute);
  layers.scatter = Of(kScatter);
  layers.count = count;
  return layers;
}

TEST(UnrollRunsTest, IssuesGathersAheadOfTheScattersOfTheRunsBetween) {
  EXPECT_EQ(Letters(UnrollRuns({Layers(4)}, 0)), "GCSGCSGCSGCS");
  EXPECT_EQ(Letters(UnrollRuns({Layers(4)}, 1)), "GGCSGCSGCSCS");
  EXPECT_EQ(Letters(UnrollRuns({Layers(4)}, 2)), "GGGCSGCSCSCS");
  EXPECT_EQ(Letters(UnrollRuns({Layers(4)}, 9)), "GGGGCSCSCSCS");
}

TEST(UnrollRunsTest, LooksAheadAcrossSegments) {
  SegmentTasks plain;
  plain.compute = Of(kCompute);
  plain.count = 2;
  // Two layers, two runs without parameters, a layer.
  EXPECT_EQ(Letters(UnrollRuns({Layers(2), plain, Layers(1)}, 1)),
            "GGCSGCSCCCS");
}

TEST(UnrollRunsTest, RunsThatAreAlikeAreOneSegment) {
  const Program program = UnrollRuns({Layers(1000)}, 1);
  EXPECT_LE(program.segments.size(), 4u);
  EXPECT_EQ(Letters(program).size(), 3000u);
}

TEST(UnrollRunsTest, ComputationWaitsForTheRunBeforeAndItsGather) {
  const Program program = UnrollRuns({Layers(1000)}, 1);
  // G C S: the gather of this run is four back, the run before three.
  const Segment& steady = program.segments[program.segments.size() - 2];
  EXPECT_EQ(steady.tasks[1].kind, kCompute);
  EXPECT_THAT(steady.tasks[1].after, ElementsAre(3, 4));
}

TEST(UnrollRunsTest, ReductionFollowsItsScatter) {
  SegmentTasks layers = Layers(1);
  layers.reduce = Of(kReduce);
  const Program program = UnrollRuns({layers}, 0);
  EXPECT_EQ(Letters(program), "GCSR");
  const Task& reduce = program.segments[0].tasks[3];
  EXPECT_THAT(reduce.after, ElementsAre(1));
  EXPECT_EQ(reduce.stream, kCopiesStream);
  EXPECT_TRUE(reduce.detached);
}

TEST(UnrollRunsTest, RunsEndAfterTheCollectiveBesideThem) {
  SegmentTasks layers;
  layers.compute = Of(kCompute);
  layers.collective = Of(kCollective);
  layers.overlaps = true;
  layers.count = 3;
  const Program program = UnrollRuns({layers}, 0);
  EXPECT_EQ(Letters(program), "CTCTCT");
  // The third waits for the second computation and the first collective.
  EXPECT_THAT(program.segments.back().tasks[0].after, ElementsAre(2, 3));
}

}  // namespace
}  // namespace prism::step
