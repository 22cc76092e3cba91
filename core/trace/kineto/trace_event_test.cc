#include "core/trace/kineto/trace_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace prism::kineto {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TraceEvent Parse(const std::string& text) {
  TraceEvent event;
  EXPECT_TRUE(ParseEvent(text, &event).ok()) << text;
  return event;
}

TEST(TraceEventTest, ReadsAKernelWithItsCollective) {
  const TraceEvent event = Parse(
      R"j({"ph": "X", "cat": "kernel", "name": "ncclKernel(float)", "pid": 0,)j"
      R"( "tid": 40, "ts": 4458677009853.422, "dur": 2636.669, "args": )"
      R"({"External id": 12945, "device": 0, "stream": 40, "correlation": )"
      R"(60047, "grid": [8, 1, 1], "Collective name": "allreduce", )"
      R"("In msg nelems": 6637568, "Out msg nelems": 6637569, "Group size": 2,)"
      R"( "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": )"
      R"("[0, 1]"}})");
  EXPECT_EQ(event.phase, "X");
  EXPECT_EQ(event.category, "kernel");
  EXPECT_EQ(event.name, "ncclKernel(float)");
  EXPECT_EQ(event.thread, "40");
  EXPECT_EQ(event.start_ns, 4458677009853422);
  EXPECT_EQ(event.duration_ns, 2636669);
  EXPECT_EQ(event.args.correlation, 60047);
  EXPECT_EQ(event.args.stream, 40);
  EXPECT_EQ(event.args.collective, "allreduce");
  EXPECT_EQ(event.args.elements_in, 6637568);
  EXPECT_EQ(event.args.elements_out, 6637569);
  EXPECT_EQ(event.args.group_size, 2);
  EXPECT_EQ(event.args.element_type, "Float");
  EXPECT_EQ(event.args.group_name, "0");
  EXPECT_EQ(event.args.group_ranks, "[0, 1]");
  EXPECT_THAT(event.unknown_fields, IsEmpty());
}

TEST(TraceEventTest, CountsTheElementsOfTheFirstInput) {
  const TraceEvent event =
      Parse(R"({"ph": "X", "args": {"Input Dims": [[64, 3, 2], [5]], )"
            R"("Input type": ["float", "int"]}})");
  EXPECT_EQ(event.args.input_elements, 384);
  EXPECT_EQ(event.args.input_type, "float");
  EXPECT_EQ(Parse(R"({"args": {"Input Dims": [[], [5]]}})").args.input_elements,
            std::nullopt);
  EXPECT_EQ(Parse(R"({"args": {"Other": [[7]]}})").args.input_elements,
            std::nullopt);
}

TEST(TraceEventTest, NamesFieldsThatTheFormatDoesNotKnow) {
  EXPECT_THAT(Parse(R"({"ph": "X", "colour": 1, "id": 3, "weight": {}})")
                  .unknown_fields,
              ElementsAre("colour", "weight"));
  EXPECT_THAT(Parse(R"({"args": {"colour": 1}})").unknown_fields, IsEmpty());
}

TEST(TraceEventTest, SaysWhatIsWrong) {
  struct Case {
    std::string text, what;
  };
  const Case cases[] = {
      {R"({"ph": "X",})", "parse error"},
      {R"({"ts": "soon"})", "ts is soon; must be microseconds"},
      {R"({"dur": 1e30})", "dur is 1e30; must be microseconds"},
      {R"({"ts": 1.2.3})", "parse error"},
      {"{\"name\": \"\xff\"}", "UTF-8"},
      {"", "parse error"},
  };
  for (const Case& test : cases) {
    TraceEvent event;
    const absl::Status status = ParseEvent(test.text, &event);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << test.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(test.what));
  }
}

TEST(TraceEventTest, ReadsMicrosecondsExactly) {
  struct Case {
    const char* text;
    std::optional<int64_t> ns;
  };
  // A double has a quarter of a microsecond left at today's dates.
  constexpr Case kCases[] = {{"1712195495502094.507", 1712195495502094507},
                             {"0", 0},
                             {"12", 12000},
                             {"12.5", 12500},
                             {"12.0019", 12001},
                             {"-3.25", -3250},
                             {"1.5e3", 1500000},
                             {"6400000000000000", 6400000000000000000},
                             {"6400000000000001", std::nullopt},
                             {"99999999999999999999", std::nullopt},
                             {"1e300", std::nullopt},
                             {"", std::nullopt},
                             {".5", std::nullopt},
                             {"x", std::nullopt},
                             {"1.x", std::nullopt}};
  for (const Case& test : kCases)
    EXPECT_EQ(NanosecondsOfMicroseconds(test.text), test.ns) << test.text;
}

TEST(TraceEventTest, ReadsWhichRankWroteTheFile) {
  const DistributedInfo info = ParseDistributedInfo(
      R"({"backend": "nccl", "rank": 3, "world_size": 128})");
  EXPECT_EQ(info.rank, 3);
  EXPECT_EQ(info.world_size, 128);
  for (const char* text : {"", "[]", "{", R"({"rank": "x"})"})
    EXPECT_EQ(ParseDistributedInfo(text).rank, std::nullopt) << text;
}

}  // namespace
}  // namespace prism::kineto
