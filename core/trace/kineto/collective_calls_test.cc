#include "core/trace/kineto/collective_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/trace/kineto/test_support.h"

namespace prism::kineto {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

struct Call {
  int64_t start, end;  // us
};

KernelTrace Rank(int rank, const std::vector<Call>& calls,
                 const std::string& args = "") {
  TraceWriter writer;
  writer.Rank(rank, 2);
  for (const Call& call : calls)
    writer.Kernel("ncclKernel_AllReduce()", call.start, call.end - call.start,
                  call.start, 40, 1, args);
  return writer.Read();
}

TEST(CollectiveCallsTest, TellsWaitingFromTransfer) {
  const auto calls = MatchCollectives(
      {Rank(0, {{100, 150}, {200, 260}}), Rank(1, {{130, 150}, {190, 260}})});
  ASSERT_THAT(calls.uses, SizeIs(1));
  const CollectiveUse& use = calls.uses[0];
  EXPECT_EQ(use.kind, "all-reduce");
  EXPECT_EQ(use.group, "stream 40");
  EXPECT_EQ(use.calls, 4);
  EXPECT_EQ(use.matched, 4);
  EXPECT_EQ(use.waiting_ns, 30000 + 10000);
  EXPECT_EQ(use.transfer_ns, 2 * 20000 + 2 * 60000);
  EXPECT_EQ(use.total_ns, use.waiting_ns + use.transfer_ns);
}

TEST(CollectiveCallsTest, FindsClocksThatDiffer) {
  const auto calls = MatchCollectives({Rank(0, {{100, 150}, {200, 260}}),
                                       Rank(1, {{5130, 5150}, {5190, 5260}})});
  EXPECT_THAT(calls.clock_ahead_ns, ElementsAre(0, 5000000));
  EXPECT_EQ(calls.uses[0].matched, 4);
  EXPECT_EQ(calls.uses[0].waiting_ns, 30000 + 10000);
}

// As in traces of which a sample of the events was kept.
TEST(CollectiveCallsTest, MatchesByTimeWhereCallsAreMissing) {
  const auto calls = MatchCollectives(
      {Rank(0, {{100, 150}, {200, 260}, {300, 350}, {500, 560}}),
       Rank(1, {{210, 260}, {400, 450}, {540, 560}})});
  EXPECT_EQ(calls.uses[0].matched, 4);
  EXPECT_EQ(calls.uses[0].waiting_ns, 10000 + 40000);
  EXPECT_EQ(calls.uses[0].transfer_ns, 2 * 50000 + 2 * 20000);
}

TEST(CollectiveCallsTest, DoesNotBelieveAnOrderThatDoesNotFit) {
  const auto calls =
      MatchCollectives({Rank(0, {{100, 110}, {2000, 2010}, {2600, 2610}}),
                        Rank(1, {{500, 510}, {900, 910}, {2605, 2610}})});
  EXPECT_EQ(calls.uses[0].matched, 2);
  EXPECT_THAT(calls.clock_ahead_ns, ElementsAre(0, 0));
}

TEST(CollectiveCallsTest, KeepsGroupsApartAndAddsBytes) {
  const std::string tp =
      R"(, "Process Group Name": "tp", "Group size": 2, "dtype": "Float",)"
      R"( "Collective name": "allreduce", "In msg nelems": 25)";
  const std::string dp = R"(, "Process Group Name": "dp", )"
                         R"("Collective name": "allreduce")";
  TraceWriter writer;
  writer.Kernel("nccl()", 100, 50, 1, 40, 1, tp)
      .Kernel("nccl()", 200, 50, 2, 40, 1, tp)
      .Kernel("nccl()", 300, 70, 3, 40, 1, dp);
  const auto calls = MatchCollectives({writer.Read()});
  ASSERT_THAT(calls.uses, SizeIs(2));
  EXPECT_EQ(calls.uses[0].group, "tp");
  EXPECT_EQ(calls.uses[0].group_size, 2);
  EXPECT_EQ(calls.uses[0].bytes, 200);
  EXPECT_EQ(calls.uses[0].matched, 0);
  EXPECT_EQ(calls.uses[1].group, "dp");
  EXPECT_EQ(calls.uses[1].bytes, -1);
  EXPECT_EQ(calls.uses[1].unknown_bytes, 1);
}

}  // namespace
}  // namespace prism::kineto
