// What the papers say of their schedules, each with its source.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "core/step/schedules/activation_memory.h"
#include "core/step/schedules/generators.h"
#include "core/step/schedules/nominal_run.h"

namespace prism::step {
namespace {

// Of a whole stage; V-shaped stages are two chunks of half of it.
constexpr UniformTime kEqual = {1, 1, 1, 0};
constexpr UniformTime kEqualChunk = {0.5, 0.5, 0.5, 0};

double Idle(const PipelineOrder& order, const UniformTime& time) {
  const auto run = RunNominally(order, UniformTimes(order, time));
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? LongestIdle(*run) : -1;
}

double Seconds(const PipelineOrder& order, const UniformTime& time) {
  const auto run = RunNominally(order, UniformTimes(order, time));
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? run->seconds : -1;
}

// Stages from 1 to 12 with 2p - 1 micro-batches and more.
void ForShapes(const std::function<void(int p, int m)>& check) {
  for (int p = 1; p <= 12; ++p) {
    for (int m : {2 * p - 1, 2 * p, 3 * p + 1, 6 * p}) {
      SCOPED_TRACE(testing::Message() << "p " << p << " m " << m);
      check(p, m);
    }
  }
}

// arXiv 2401.10241, table 1: (p - 1)(F + B + W) of 1f1b.
TEST(PublishedTest, PlainIdles) {
  ForShapes([](int p, int m) {
    const auto order = OneForwardOneBackwardOrder(p, m);
    EXPECT_NEAR(Idle(order, {1.5, 1, 0.75, 0}), (p - 1) * 3.25, 1e-9);
  });
}

// arXiv 2401.10241, table 1: (p - 1)(F + B - W).
TEST(PublishedTest, H1IdlesAThirdOfPlain) {
  ForShapes([](int p, int m) {
    EXPECT_NEAR(Idle(ZeroBubbleH1Order(p, m), kEqual), p - 1, 1e-9);
  });
}

// arXiv 2401.10241, table 1: (p - 1)(F + B - 2W).
TEST(PublishedTest, H2DoesNotIdle) {
  ForShapes([](int p, int m) {
    EXPECT_NEAR(Idle(ZeroBubbleH2Order(p, m), kEqual), 0, 1e-9);
  });
}

// From a common start, m (F + B + W) + (p - 1) F: the last stage cannot start
// before (p - 1) F, and works m (F + B + W).
TEST(PublishedTest, ZeroBubbleStepsReachTheirBound) {
  ForShapes([](int p, int m) {
    EXPECT_NEAR(Seconds(ZeroBubbleH1Order(p, m), kEqual), 3 * m + p - 1, 1e-9);
    EXPECT_NEAR(Seconds(ZeroBubbleH2Order(p, m), kEqual), 3 * m + p - 1, 1e-9);
  });
}

// arXiv 2401.10241, section 6: ZB-V, F = B = W.
TEST(PublishedTest, ZeroBubbleVDoesNotIdle) {
  ForShapes([](int p, int m) {
    EXPECT_NEAR(Idle(ZeroBubbleVOrder(p, m), kEqualChunk), 0, 1e-9);
  });
}

// arXiv 2405.15362: bubble rates of about p / 2m (V-Half) and 2p / 3m (V-Min)
// of the longest stage at F = B = W, against p / m of 1f1b; so at most 3p / 2
// and 2p.
TEST(PublishedTest, HalfAndThirdMemoryIdleHalfAndTwoThirdsOfPlain) {
  ForShapes([](int p, int m) {
    EXPECT_LE(Idle(HalfMemoryVOrder(p, m), kEqualChunk), 1.5 * p);
    EXPECT_LE(Idle(ThirdMemoryVOrder(p, m), kEqualChunk), 2.0 * p);
  });
}

// Micro-batches that the fullest stage keeps.
double Peak(const PipelineOrder& order) {
  const std::vector<double> peaks = PeakMicrobatches(order, 1);
  return *std::max_element(peaks.begin(), peaks.end());
}

// arXiv 2401.10241, table 1 and section 6: p of 1f1b, of H1 and of ZB-V, and
// 2p - 1 of H2, where the weight part needs all of an activation.
TEST(PublishedTest, H1AndZeroBubbleVKeepAsMuchAsPlain) {
  ForShapes([](int p, int m) {
    EXPECT_NEAR(Peak(OneForwardOneBackwardOrder(p, m)), p, 1e-9);
    EXPECT_NEAR(Peak(ZeroBubbleH1Order(p, m)), p, 1e-9);
    EXPECT_NEAR(Peak(ZeroBubbleVOrder(p, m)), p, 1e-9);
    EXPECT_NEAR(Peak(ZeroBubbleH2Order(p, m)), 2 * p - 1, 1e-9);
  });
}

// arXiv 2405.15362, abstract and section 4: 1/2 (V-Half) and 1/3 (V-Min) of
// 1f1b's, but for what a few micro-batches at the turn add on any pipeline.
TEST(PublishedTest, HalfAndThirdMemoryKeepHalfAndAThirdOfPlain) {
  for (int p = 1; p <= 48; ++p) {
    SCOPED_TRACE(p);
    EXPECT_LE(Peak(HalfMemoryVOrder(p, 3 * p)), p / 2.0 + 1);
    EXPECT_LE(Peak(ThirdMemoryVOrder(p, 3 * p)), p / 3.0 + 4.0 / 3);
  }
}

// arXiv 2412.19437, table 2: PP + 1. README of github.com/deepseek-ai/DualPipe:
// the same of the V form, of twice the stages with half the layers each.
TEST(PublishedTest, DualPipesKeepOneMoreThanPlain) {
  for (int p : {2, 4, 6, 8, 12}) {
    EXPECT_NEAR(Peak(*DualPipeOrder(p, 4 * p)), p + 1, 1e-9);
    EXPECT_NEAR(Peak(*DualPipeVOrder(p, 4 * p)), (2 * p + 1) / 2.0, 1e-9);
  }
}

// arXiv 2104.04473, section 2.2: the bubble divided by v; arXiv 2211.05953,
// section 3: the same of breadth-first.
TEST(PublishedTest, ChunksDivideTheBubble) {
  ForShapes([](int p, int m) {
    m = std::max(m, p);
    for (int v : {1, 2, 4}) {
      const UniformTime chunk = {1.5 / v, 1.0 / v, 0.75 / v, 0};
      const double expected = (p - 1) * 3.25 / v;
      EXPECT_NEAR(Idle(BreadthFirstOrder(p, v, m), chunk), expected, 1e-9);
      const int whole = p * (m / p);
      EXPECT_NEAR(Idle(*InterleavedOrder(p, v, whole, p), chunk), expected,
                  1e-9);
    }
  });
}

// Changes of virtual stage in the order of stage 0: how often sharded
// parameters are gathered where one chunk's fit.
int Gathers(const PipelineOrder& order) {
  int gathers = 0, held = -1;
  for (const Operation& op : order.operations[0]) {
    if (op.virtual_stage != held) ++gathers;
    held = op.virtual_stage;
  }
  return gathers;
}

// arXiv 2211.05953, section 4.2: breadth-first gathers each chunk once a pass
// whatever m is (the last chunk's passes follow each other); depth-first at
// least once a group of p micro-batches.
TEST(PublishedTest, BreadthFirstGathersOnceAPass) {
  const int p = 4, v = 3;
  for (int groups : {2, 4, 8}) {
    EXPECT_EQ(Gathers(BreadthFirstOrder(p, v, groups * p)), 2 * v - 1);
    EXPECT_GE(Gathers(*InterleavedOrder(p, v, groups * p, p)), groups * v);
  }
}

// DualPipe as its authors run it: a forward beside a whole backward is one
// operation of `beside`, whose results leave when it ends; the first pair of
// the middle stages is not run so. Simulated apart from RunNominally(), by
// relaxation until nothing moves.
class BesideReference {
 public:
  BesideReference(const PipelineOrder& order, const UniformTime& time,
                  double beside)
      : order_(order), time_(time), beside_(beside) {
    for (auto& left : left_) left.assign(order.passes(), 0);
  }

  double LongestIdle() {
    double longest = 0;
    for (moved_ = true; moved_;) {
      moved_ = false;
      longest = 0;
      for (int s = 0; s < order_.stages(); ++s) {
        longest = std::max(longest, Relax(s));
      }
    }
    return longest;
  }

 private:
  // The stage's idle time with what arrives when it is known to by now.
  double Relax(int stage) {
    const auto& list = order_.operations[stage];
    bool apart = IsMiddle(stage);
    double now = 0, first = -1, busy = 0;
    for (size_t at = 0, end = 0; at < list.size(); at = end) {
      const bool pair =
          list[at].phase == Phase::kForward && IsWhole(list, at + 1);
      const bool together = pair && !apart;
      apart = apart && !pair;
      const double takes = together ? beside_ : Takes(list[at]);
      end = at + (together ? 2 : 1);
      for (size_t k = at; k < end; ++k) now = std::max(now, Needs(list[k]));
      if (first < 0) first = now;
      now += takes;
      busy += takes;
      for (size_t k = at; k < end; ++k) Leave(list[k], now);
    }
    return now - first - busy;
  }

  bool IsMiddle(int stage) const {
    const int p = order_.stages();
    return order_.chains == 1 ? stage == p - 1
                              : stage == p / 2 || stage == p / 2 - 1;
  }
  static bool IsWhole(const std::vector<Operation>& list, size_t at) {
    return at < list.size() && list[at].phase == Phase::kBackward;
  }
  double Takes(const Operation& op) const {
    if (op.phase == Phase::kForward) return time_.forward;
    if (op.phase == Phase::kBackwardWeight) return time_.weight;
    return time_.backward + (op.phase == Phase::kBackward ? time_.weight : 0);
  }
  double& Left(const Operation& op, int u) {
    return left_[op.phase == Phase::kForward ? 0 : 1]
                [static_cast<size_t>(u) * order_.microbatches + op.microbatch];
  }
  double Needs(const Operation& op) {
    const int u = op.virtual_stage;
    if (op.phase == Phase::kForward) {
      return order_.is_first(u) ? 0 : Left(op, u - 1);
    }
    if (op.phase == Phase::kBackwardWeight) return 0;
    return order_.is_last(u) ? 0 : Left(op, u + 1);
  }
  void Leave(const Operation& op, double now) {
    if (op.phase == Phase::kBackwardWeight) return;
    double& left = Left(op, op.virtual_stage);
    moved_ |= left < now;
    left = std::max(left, now);
  }

  const PipelineOrder& order_;
  UniformTime time_;
  double beside_;
  bool moved_ = false;
  // Ends of forwards and backwards known by now, by PipelineOrder::index.
  std::array<std::vector<double>, 2> left_;
};

// Idle time with pairs of `beside`, and what is published of it in the times of
// a virtual stage: `depth` (F&B + B - 3W), B being a whole backward. It holds
// where a pair takes as long as its parts; a shorter pair idles less.
void CheckBeside(const PipelineOrder& order, int depth) {
  auto published = [&](double beside) { return depth * (beside + 2 - 3); };
  EXPECT_NEAR(BesideReference(order, kEqual, 3).LongestIdle(), published(3),
              1e-9);
  EXPECT_LE(BesideReference(order, kEqual, 2.5).LongestIdle(),
            published(2.5) + 1e-9);
}

// arXiv 2412.19437, table 2: (PP / 2 - 1)(F&B + B - 3W).
TEST(PublishedTest, DualPipeIdles) {
  for (int p : {2, 4, 6, 8, 12}) {
    for (int m : {2 * p, 4 * p}) {
      SCOPED_TRACE(testing::Message() << "p " << p << " m " << m);
      const PipelineOrder order = *DualPipeOrder(p, m);
      CheckBeside(order, p / 2 - 1);
      EXPECT_NEAR(Idle(order, kEqual), p / 2 - 1, 1e-9);
    }
  }
}

// github.com/deepseek-ai/DualPipe, README: DualPipe's of twice the stages.
TEST(PublishedTest, DualPipeVIdlesAsDualPipeOfTwiceTheStages) {
  for (int p : {1, 2, 3, 4, 7}) {
    for (int m : {2 * p, 4 * p + 1}) {
      SCOPED_TRACE(testing::Message() << "p " << p << " m " << m);
      const PipelineOrder order = *DualPipeVOrder(p, m);
      CheckBeside(order, p - 1);
      EXPECT_NEAR(Idle(order, kEqual), p - 1, 1e-9);
    }
  }
}

}  // namespace
}  // namespace prism::step
