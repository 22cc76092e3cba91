#include "core/trace/kineto/joined_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/trace/kineto/test_support.h"

namespace prism::kineto {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Steps `first` to `last` of 100 us, the kernel of rank r taking 10 (r + 1) us.
KernelTrace Rank(int rank, int first, int last) {
  TraceWriter writer;
  writer.Rank(rank, 2);
  for (int i = first; i <= last; ++i) {
    writer.Annotation("ProfilerStep#" + std::to_string(i), 100 * i, 100 - rank)
        .Kernel("k", 100 * i + 10, 10 * (rank + 1), 100 * i + 1);
  }
  return writer.Read();
}

JoinedTrace JoinOrDie(std::vector<KernelTrace> traces,
                      const StepOptions& options = {}) {
  auto joined = Join(std::move(traces), options);
  EXPECT_TRUE(joined.ok()) << joined.status();
  return *std::move(joined);
}

TEST(JoinedTraceTest, JoinsStepsByNumber) {
  const JoinedTrace joined = JoinOrDie({Rank(1, 2, 4), Rank(0, 1, 3)});
  EXPECT_EQ(joined.traces[0].rank, 0);
  ASSERT_THAT(joined.steps, SizeIs(2));
  EXPECT_EQ(joined.steps[0].number, 2);
  EXPECT_EQ(joined.steps[1].number, 3);
  EXPECT_EQ(joined.steps[0].duration_ns, 100000);
  EXPECT_EQ(joined.steps[0].by_trace[1].sum().compute_ns, 20000);
}

TEST(JoinedTraceTest, JoinsByOrderWhereNoNumberIsCommon) {
  EXPECT_THAT(JoinOrDie({Rank(0, 1, 3), Rank(1, 7, 8)}).steps, SizeIs(2));
}

TEST(JoinedTraceTest, AddsUpKernelsByName) {
  const JoinedTrace joined = JoinOrDie({Rank(0, 1, 3), Rank(1, 1, 3)});
  ASSERT_THAT(joined.kernels, SizeIs(1));
  EXPECT_EQ(joined.kernels[0].count, 6);
  EXPECT_DOUBLE_EQ(joined.kernels[0].mean_ns, 15000);
  // Three of 10 us and three of 20 us.
  EXPECT_NEAR(joined.kernels[0].sd_ns, 5477.2, 0.1);
  EXPECT_DOUBLE_EQ(joined.kernels[0].share, 1);
}

TEST(JoinedTraceTest, CountsWhatLiesOutsideOfSteps) {
  TraceWriter writer;
  writer.Annotation("ProfilerStep#1", 100, 100)
      .Kernel("k", 20, 10, 1)
      .Kernel("k", 120, 10, 101);
  const JoinedTrace joined = JoinOrDie({writer.Read()});
  EXPECT_EQ(joined.activities_in_steps, 1);
  EXPECT_EQ(joined.activities_outside, 1);
  EXPECT_THAT(joined.notes, Contains(HasSubstr("1 of 2 device activities")));
}

TEST(JoinedTraceTest, GivesTracesWithoutARankTheFreeOnes) {
  TraceWriter unnamed;
  unnamed.Kernel("k", 10, 10, 1);
  KernelTrace zero = unnamed.Read();
  zero.rank = 0;
  const JoinedTrace joined = JoinOrDie({unnamed.Read(), zero, unnamed.Read()});
  EXPECT_EQ(joined.traces[1].rank, 1);
  EXPECT_EQ(joined.traces[2].rank, 2);
}

TEST(JoinedTraceTest, SaysWhatCannotBeJoined) {
  struct Case {
    std::vector<KernelTrace> traces;
    StepOptions options;
    const char* what;
  };
  const std::vector<Case> cases = {
      {{}, {}, "no trace is given"},
      {{Rank(0, 1, 2), Rank(0, 1, 2)}, {}, "t and t are both of rank 0"},
      {{TraceWriter().Read()}, {}, "t shows no device activity in 0 events"},
      {{ReadBytes("hello")}, {}, "is not JSON"},
      {{Rank(0, 1, 2)}, {"step", {}}, "annotations that begin with \"step\""}};
  for (const Case& test : cases) {
    const auto joined = Join(test.traces, test.options);
    EXPECT_EQ(joined.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(joined.status().message()), HasSubstr(test.what));
  }
}

TEST(JoinedTraceTest, NotesWhatAPersonShouldKnow) {
  EXPECT_THAT(JoinOrDie({Rank(0, 1, 2), Rank(1, 1, 2)}).notes, IsEmpty());
  EXPECT_THAT(JoinOrDie({Rank(0, 1, 2)}).notes,
              ElementsAre(HasSubstr("traces of 1 of 2 ranks")));
  std::string text = TraceWriter().Kernel("k", 10, 10, 1).Text();
  text.insert(text.find("\"ph\""), "\"colour\": 1, ");
  text.resize(text.find_last_of(']'));
  EXPECT_THAT(JoinOrDie({ReadBytes(text)}).notes,
              ElementsAre("t has 1 damaged place; the rest of its 2 events "
                          "was read",
                          HasSubstr("the file ends early"),
                          "t: unknown field colour of 1 events is ignored",
                          HasSubstr("no step is marked")));
}

}  // namespace
}  // namespace prism::kineto
