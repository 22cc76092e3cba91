// What the papers say of their schedules, each with its source.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>

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
    const auto order =
        ClassicOrder(ScheduleKind::kOneForwardOneBackward, p, 1, m);
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

// The reference for DualPipe: a forward beside a whole backward is one
// operation of `beside`, whose results leave when it ends. Simulated apart
// from the order's own evaluation, by relaxation until nothing moves.
class BesideReference {
 public:
  BesideReference(const PipelineOrder& order, double f, double b, double w,
                  double beside)
      : order_(order), f_(f), b_(b), w_(w), beside_(beside) {
    for (auto& left : left_) {
      left.assign(
          static_cast<size_t>(order.virtual_stages()) * order.microbatches, 0);
    }
  }

  double LongestIdle() {
    while (Relax()) {
    }
    return idle_;
  }

 private:
  bool Is(const std::vector<Operation>& list, size_t at, Phase phase) const {
    return at < list.size() && list[at].phase == phase;
  }
  bool IsWhole(const std::vector<Operation>& list, size_t at) const {
    return Is(list, at, Phase::kBackward) &&
           Is(list, at + 1, Phase::kBackwardWeight) &&
           list[at].microbatch == list[at + 1].microbatch &&
           list[at].virtual_stage == list[at + 1].virtual_stage;
  }
  double& Left(const Operation& op, int u) {
    return left_[static_cast<int>(op.phase)]
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

  bool Relax() {
    bool moved = false;
    idle_ = 0;
    for (const auto& list : order_.operations) {
      double now = 0, first = -1, busy = 0;
      for (size_t at = 0; at < list.size();) {
        const size_t pair = Is(list, at, Phase::kForward) ? at + 1 : at;
        const bool whole = IsWhole(list, pair);
        const size_t end = whole ? pair + 2 : at + 1;
        const double takes = whole ? (pair > at ? beside_ : b_ + w_)
                             : Is(list, at, Phase::kForward) ? f_
                             : Is(list, at, Phase::kBackward) ? b_
                                                              : w_;
        for (size_t k = at; k < end; ++k) now = std::max(now, Needs(list[k]));
        if (first < 0) first = now;
        now += takes;
        busy += takes;
        for (size_t k = at; k < end; ++k) {
          double& left = Left(list[k], list[k].virtual_stage);
          moved |= left < now;
          left = std::max(left, now);
        }
        at = end;
      }
      idle_ = std::max(idle_, now - first - busy);
    }
    return moved;
  }

  const PipelineOrder& order_;
  double f_, b_, w_, beside_;
  std::array<std::vector<double>, kPhases> left_;
  double idle_ = 0;
};

// arXiv 2412.19437, table 2: (PP / 2 - 1)(F&B + B - 3W) with B of a whole
// backward.
TEST(PublishedTest, DualPipeIdles) {
  for (int p : {2, 4, 6, 8, 12}) {
    for (int m : {2 * p, 4 * p}) {
      const PipelineOrder order = *DualPipeOrder(p, m);
      printf("p %d m %d: %g of %d; own %g\n", p, m, BesideReference(order, 1, 1, 1, 3).LongestIdle(), (p / 2 - 1) * (3 + 2 - 3), Idle(order, kEqual));
    }
  }
}

}  // namespace
}  // namespace prism::step
