#include "core/trace/kineto/rank_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/trace/kineto/test_support.h"

namespace prism::kineto {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(RankReaderTest, KeepsActivitiesInOrderWithTheirStreams) {
  const KernelTrace trace = TraceWriter()
                                .Kernel("b", 200, 10, 20, 9)
                                .Kernel("a", 100, 50, 10, 7)
                                .Copy(300, 5)
                                .Read();
  ASSERT_THAT(trace.activities, SizeIs(3));
  EXPECT_EQ(trace.names[trace.activities[0].name], "a");
  EXPECT_EQ(trace.activities[0].start_ns, 100000);
  EXPECT_EQ(trace.activities[0].end_ns, 150000);
  EXPECT_EQ(trace.activities[0].launch_ns, 10000);
  EXPECT_EQ(trace.streams[trace.activities[0].stream].number, 7);
  EXPECT_EQ(trace.streams[trace.activities[1].stream].number, 9);
  EXPECT_EQ(trace.activities[2].kind, ActivityKind::kMemory);
  EXPECT_EQ(trace.activities[2].launch_ns, 300000);
  EXPECT_EQ(trace.unlaunched, 1);
  EXPECT_EQ(trace.damage.count(), 0);
}

TEST(RankReaderTest, TellsPhasesByWhoLaunched) {
  const KernelTrace trace =
      TraceWriter()
          .Operator("autograd::engine::evaluate_function: MulBackward", 100, 50,
                    2)
          .Annotation("Optimizer.step#Adam.step", 200, 50)
          .Kernel("forward", 1000, 1, 50)
          .Kernel("main thread meanwhile", 2000, 1, 120, 7, 1)
          .Kernel("backward", 3000, 1, 120, 7, 2)
          .Kernel("optimizer", 4000, 1, 220)
          .Read();
  EXPECT_EQ(trace.activities[0].phase, Phase::kForward);
  EXPECT_EQ(trace.activities[1].phase, Phase::kForward);
  EXPECT_EQ(trace.activities[2].phase, Phase::kBackward);
  EXPECT_EQ(trace.activities[3].phase, Phase::kOptimizer);
}

TEST(RankReaderTest, TakesWhatAKernelSaysOfItsCollective) {
  const KernelTrace trace =
      TraceWriter()
          .Kernel("ncclDevKernel_Generic(x)", 0, 9, 0, 40, 1,
                  R"(, "Collective name": "_allgather_base", )"
                  R"("In msg nelems": 10, "Out msg nelems": 80, )"
                  R"("Group size": 8, "dtype": "BFloat16", )"
                  R"("Process Group Name": "dp")")
          .Read();
  EXPECT_EQ(trace.collectives[trace.activities[0].collective],
            (Collective{"all-gather", "dp", 8, 160}));
  EXPECT_EQ(trace.activities[0].kind, ActivityKind::kCommunication);
}

TEST(RankReaderTest, TakesTheCallThatLaunchedACollective) {
  const KernelTrace trace =
      TraceWriter()
          .Event(R"({"ph": "X", "cat": "user_annotation", "name": )"
                 R"("nccl:all_to_all", "pid": 1, "tid": 1, "ts": 10, )"
                 R"("dur": 10, "args": {"Input Dims": [[384]], )"
                 R"("Input type": ["long"]}})")
          .Kernel("ncclKernel_SendRecv_RING(x)", 100, 9, 12, 84)
          .Kernel("ncclKernel_AllReduce_RING(x)", 200, 9, 50, 84)
          .Read();
  EXPECT_EQ(trace.collectives[trace.activities[0].collective],
            (Collective{"all-to-all", "", 0, 3072}));
  EXPECT_EQ(trace.collectives[trace.activities[1].collective],
            (Collective{"all-reduce", "", 0, -1}));
}

TEST(RankReaderTest, TakesTheRankFromTheFileOrItsName) {
  EXPECT_EQ(TraceWriter().Rank(3, 8).Read().rank, 3);
  EXPECT_EQ(TraceWriter().Rank(3, 8).Read().world_size, 8);
  EXPECT_EQ(ReadBytes(TraceWriter().Text(), "a/rank-5.json").rank, 5);
  EXPECT_EQ(TraceWriter().Read().rank, std::nullopt);
}

TEST(RankReaderTest, ReadsRanksOffFileNames) {
  EXPECT_EQ(RankOfFileName("sampled_rank-1.json.gz"), 1);
  EXPECT_EQ(RankOfFileName("/rank7/trace_rank_12.json"), 12);
  EXPECT_EQ(RankOfFileName("rank3"), 3);
  EXPECT_EQ(RankOfFileName("/rank7/trace.json"), std::nullopt);
  EXPECT_EQ(RankOfFileName("ranking.json"), std::nullopt);
  EXPECT_EQ(RankOfFileName(""), std::nullopt);
}

TEST(RankReaderTest, CountsWhatItDoesNotKeep) {
  const KernelTrace trace =
      TraceWriter()
          .Operator("aten::mul", 0, 1)
          .Operator("aten::add", 0, 1)
          .Event(R"({"ph": "M", "name": "process_name", "ts": 1})")
          .Event(R"({"ph": "f", "cat": "ac2g", "ts": 1, "colour": 3})")
          .Read();
  EXPECT_EQ(trace.events, 4);
  EXPECT_THAT(trace.ignored,
              ElementsAre(Pair("ac2g (ph f)", 1), Pair("cpu_op", 2),
                          Pair("process_name (ph M)", 1)));
  EXPECT_THAT(trace.unknown_fields, ElementsAre(Pair("colour", 1)));
}

TEST(RankReaderTest, NamesDamagedEventsAndKeepsTheOthers) {
  const KernelTrace trace =
      TraceWriter()
          .Kernel("a", 100, 50, 10)
          .Event(R"({"ph": "X", "cat": "kernel", "name": "b", "dur": 1})")
          .Event(R"({"ph": "X", "cat": "kernel", "name": "c", "ts": 1})")
          .Event(R"({"ph": "X", "name": "d", "ts": 1, "dur": -1})")
          .Event(R"({"ph": "X", "name": "e", "ts": "1x", "dur": 1})")
          .Event(R"({"ph": "X", "name": "g", "ts": 1, "dur": 1e13})")
          .Event(R"({"ph": "X", "name": "h", "ts": -5e15, "dur": 1})")
          .Event(R"({"ph" "X"})")
          .Event(R"({"cat": "kernel"})")
          .Kernel("f", 200, 50, 20)
          .Read();
  EXPECT_THAT(trace.activities, SizeIs(2));
  EXPECT_EQ(trace.damage.count(), 8);
  std::vector<std::string> what;
  for (const DamagedPlace& place : trace.damage.named())
    what.push_back(place.what);
  EXPECT_THAT(what,
              ElementsAre("b has no ts", "c has no dur", "d has a dur below 0",
                          "ts is 1x; must be microseconds",
                          "g has no possible time", "h has no possible time",
                          HasSubstr("parse error"), "an event without ph"));
}

// Real traces, cut off anywhere: the activities that came before are kept, and
// the cut is named.
TEST(RankReaderTest, NamesEveryTruncation) {
  const std::string text = Gunzip(TestData("mi250_minitoy.json.gz"));
  const KernelTrace whole = ReadBytes(text);
  EXPECT_EQ(whole.damage.count(), 0);
  size_t last = 0;
  const size_t end = text.find_last_of('}');
  for (size_t size = 0; size < end; size += 97) {
    const KernelTrace trace = ReadBytes(text.substr(0, size));
    EXPECT_GT(trace.damage.count(), 0) << size;
    EXPECT_GE(trace.activities.size(), last) << size;
    last = trace.activities.size();
  }
  EXPECT_EQ(last, whole.activities.size());
}

TEST(RankReaderTest, NamesTruncationsOfCompressedFiles) {
  const std::string bytes = TestData("mi250_minitoy.json.gz");
  for (size_t size = 0; size < bytes.size(); size += 61)
    EXPECT_GT(ReadBytes(bytes.substr(0, size)).damage.count(), 0) << size;
}

// One byte in a thousand overwritten: most events survive, and none is lost
// without a word.
TEST(RankReaderTest, KeepsWhatSurroundsDamage) {
  const std::string text = Gunzip(TestData("mi250_minitoy.json.gz"));
  const KernelTrace whole = ReadBytes(text);
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string damaged = text;
    const size_t at = text.size() / 20 + random() % (text.size() * 9 / 10);
    damaged[at] = static_cast<char>(random() % 128);
    const KernelTrace trace = ReadBytes(damaged);
    EXPECT_GE(trace.activities.size() + 1, whole.activities.size()) << at;
    EXPECT_TRUE(trace.events >= whole.events || trace.damage.count() > 0) << at;
  }
}

TEST(RankReaderTest, TakesAnyDamage) {
  const std::string text =
      Gunzip(TestData("mi250_minitoy.json.gz")).substr(0, 20000);
  const std::string gzip = Gzip(text);
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = round % 2 == 0 ? text : gzip;
    for (uint64_t n = 1 + random() % 30; n > 0; --n)
      damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    ReadBytes(damaged, "t", 1 + random() % 5000);
  }
}

}  // namespace
}  // namespace prism::kineto
