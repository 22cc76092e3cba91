#include "core/step/schedules/automatic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/step/schedules/generators.h"

namespace prism::step {
namespace {

double Most(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

PipelinePieces Uniform(int stages, int chunks, int microbatches,
                       const UniformTime& time) {
  PipelinePieces pieces{stages, chunks, microbatches, {}, {}};
  const int count = stages * chunks;
  pieces.times.forward.assign(count, time.forward);
  pieces.times.backward.assign(count, time.backward);
  pieces.times.weight.assign(count, time.weight);
  pieces.times.hop.assign(count - 1, time.hop);
  pieces.sizes.assign(count, {1, 1});
  return pieces;
}

class RandomPieces {
 public:
  PipelinePieces Next() {
    const int p = 1 + random_() % 5, v = 1 + random_() % 4;
    PipelinePieces pieces =
        Uniform(p, v, 1 + random_() % 12, {1, 1, 1, Real(0, 1)});
    for (int i = 0; i < p * v; ++i) {
      pieces.times.forward[i] = Real(0.2, 2);
      pieces.times.backward[i] = Real(0.2, 2);
      pieces.times.weight[i] = Real(0, 2);
      const double whole = Real(0.5, 2);
      pieces.sizes[i] = {whole, whole * Real(0, 1)};
    }
    return pieces;
  }
  // From less than a micro-batch needs to more than all need.
  double Memory(const PipelinePieces& pieces) {
    return 2 * pieces.chunks * Real(0.5, 2.0 * pieces.stages);
  }

 private:
  double Real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  std::mt19937_64 random_{11};
};

std::vector<PipelineOrder> Rivals(const PipelinePieces& x) {
  const int p = x.stages, m = x.microbatches;
  std::vector<PipelineOrder> rivals = {
      OneForwardOneBackwardOrder(p, m), ZeroBubbleH1Order(p, m),
      ZeroBubbleH2Order(p, m),
      *InterleavedOrder(p, x.chunks, m, SmallestGroup(p, m))};
  if (x.chunks % 2 == 0) rivals.push_back(ZeroBubbleVOrder(p, m));
  return rivals;
}

TEST(SearchOrderTest, IsNeverWorseThanWhatFits) {
  RandomPieces random;
  int found = 0, refused = 0;
  for (int i = 0; i < 200; ++i) {
    const PipelinePieces pieces = random.Next();
    SearchLimits limits;
    limits.memory = random.Memory(pieces);
    limits.exchanges = 50;
    const auto best = SearchOrder(pieces, limits);
    if (best.ok()) {
      ++found;
      ASSERT_TRUE(Validate(best->order).ok());
      ASSERT_LE(Most(PeakActivations(best->order, best->sizes)), limits.memory);
      ASSERT_EQ(RunNominally(best->order, best->times)->seconds,
                best->run.seconds);
    } else {
      ++refused;
      ASSERT_EQ(best.status().code(), absl::StatusCode::kResourceExhausted);
    }
    for (const PipelineOrder& rival : Rivals(pieces)) {
      const auto sizes = MergedSizes(pieces, rival);
      if (Most(PeakActivations(rival, sizes)) > limits.memory) continue;
      ASSERT_TRUE(best.ok()) << best.status();
      const auto run = RunNominally(rival, MergedTimes(pieces, rival));
      ASSERT_LE(best->run.seconds, run->seconds * (1 + 1e-12)) << best->name;
    }
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(refused, 5);
}

// As 1f1b keeps them, which is what documents have where they give no limit.
TEST(SearchOrderTest, IsValidAndWithinItsLimitOnAnyShape) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 10'000; ++i) {
    const int p = 1 + random() % 4, v = 1 + random() % 2, m = 1 + random() % 6;
    const PipelinePieces pieces =
        Uniform(p, v, m, {1, 1.2, random() % 8 / 4.0, 0.1});
    SearchLimits limits;
    limits.memory = v * std::min(p, m);
    limits.exchanges = 2;
    const auto best = SearchOrder(pieces, limits);
    SCOPED_TRACE(testing::Message() << "p " << p << " v " << v << " m " << m);
    ASSERT_TRUE(best.ok()) << best.status();
    ASSERT_TRUE(Validate(best->order).ok()) << Validate(best->order);
    ASSERT_LE(Most(PeakActivations(best->order, best->sizes)), limits.memory);
    ASSERT_TRUE(Validate(InPieces(pieces, best->order)).ok());
  }
}

// Where F, B and W differ, the hand-made orders lose what a search finds.
TEST(SearchOrderTest, BeatsH1WhereTimesAreUneven) {
  const PipelinePieces pieces = Uniform(8, 1, 24, {1, 1.4, 0.5, 0.1});
  SearchLimits limits;
  limits.memory = 12;
  const auto best = SearchOrder(pieces, limits);
  ASSERT_TRUE(best.ok()) << best.status();
  const PipelineOrder h1 = ZeroBubbleH1Order(8, 24);
  EXPECT_LT(best->run.seconds,
            RunNominally(h1, MergedTimes(pieces, h1))->seconds);
}

TEST(SearchOrderTest, MoreMemoryIsNeverSlowerThanTheShortestStep) {
  const PipelinePieces pieces = Uniform(6, 1, 18, {});
  double last = 1e9;
  for (double memory : {3, 4, 5, 6, 8, 11}) {
    SearchLimits limits;
    limits.memory = memory;
    const auto best = SearchOrder(pieces, limits);
    ASSERT_TRUE(best.ok()) << best.status();
    EXPECT_LE(best->run.seconds, last) << memory;
    EXPECT_GE(best->run.seconds, 3 * 18 + 5);
    last = best->run.seconds;
  }
  EXPECT_EQ(last, 3 * 18 + 5);
}

TEST(SearchOrderTest, AnswersRepeat) {
  const PipelinePieces pieces = Uniform(4, 2, 9, {1, 1.7, 0.6, 0.2});
  const auto one = SearchOrder(pieces, {}), two = SearchOrder(pieces, {});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->order.operations, two->order.operations);
}

// Of two pieces on each of two stages, as 1f1b and as a V of one piece a chunk.
TEST(InPiecesTest, RunsThePiecesOfAnOperationInARow) {
  const PipelinePieces pieces = Uniform(2, 2, 3, {1, 2, 3, 0.5});
  for (const PipelineOrder& order :
       {OneForwardOneBackwardOrder(2, 3), ZeroBubbleH1Order(2, 3),
        ZeroBubbleVOrder(2, 3)}) {
    const PipelineOrder cut = InPieces(pieces, order);
    ASSERT_TRUE(Validate(cut).ok()) << Validate(cut);
    EXPECT_EQ(cut.virtual_stages(), 4);
    EXPECT_DOUBLE_EQ(RunNominally(cut, MergedTimes(pieces, cut))->seconds,
                     RunNominally(order, MergedTimes(pieces, order))->seconds);
    EXPECT_LE(Most(PeakActivations(cut, pieces.sizes)),
              Most(PeakActivations(order, MergedSizes(pieces, order))));
  }
}

TEST(MergedTimesTest, NeighboursAddUpAndInnerHopsVanish) {
  PipelinePieces pieces = Uniform(2, 4, 1, {1, 2, 3, 0});
  pieces.times.hop = {1, 2, 3, 4, 5, 6, 7};
  const auto plain = ZeroBubbleH1Order(2, 1);
  EXPECT_THAT(MergedTimes(pieces, plain).backward, testing::ElementsAre(8, 8));
  EXPECT_THAT(MergedTimes(pieces, plain).hop, testing::ElementsAre(4));
  const auto v = ZeroBubbleVOrder(2, 1);
  EXPECT_THAT(MergedTimes(pieces, v).hop, testing::ElementsAre(2, 0, 6));
  EXPECT_EQ(MergedSizes(pieces, v)[3].whole, 2);
}

}  // namespace
}  // namespace prism::step
