#include "core/step/random_profile.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace prism::step {
namespace {

using stats::Distribution;

constexpr uint64_t kSchedules = 13;  // of ScheduleKind

class ProfileMaker {
 public:
  explicit ProfileMaker(uint64_t seed, bool steady = false)
      : seed_(seed), steady_(steady), generator_(seed) {}

  StepProfile Make() {
    SetLayout();
    const bool sharded = profile_.pipeline == 1 && Chance(0.6);
    profile_.forward = Segments(1, sharded);
    SetBackward(sharded);
    profile_.transfer = Law(0.2);
    profile_.gradient_sync = Law(2);
    profile_.optimizer = Law(1);
    if (Chance(0.5)) profile_.compute_regime = Law(1);
    if (Chance(0.5)) profile_.network_regime = Law(1);
    if (Chance(0.5)) profile_.microbatch_load = Law(1);
    if (Chance(0.5)) SetSlowRanks();
    if (Chance(0.5)) SetStageScale();
    return profile_;
  }

  StepProfile MakeWithStreams() {
    Make();
    profile_.data = Between(1, 2) * Between(1, 2);
    profile_.slowdown.clear();
    if (Chance(0.5)) SetSlowRanks();
    if (Chance(0.4) && profile_.data % 2 == 0) {
      profile_.shard = profile_.data / 2;
    }
    const bool hybrid = profile_.shard > 0;
    for (auto* segments :
         {&profile_.forward, &profile_.backward, &profile_.backward_input,
          &profile_.backward_weight}) {
      for (ProfileSegment& segment : *segments) AddStreams(hybrid, segment);
    }
    profile_.prefetch = Between(0, 4);
    profile_.gather_once = Chance(0.2);
    profile_.scatter_once = Chance(0.3);
    if (Chance(0.5)) profile_.overlap_slowdown = Real(1, 1.5);
    return std::move(profile_);
  }

 private:
  void AddStreams(bool hybrid, ProfileSegment& segment) {
    if (Chance(0.6)) segment.gather = Law(0.7);
    if (Chance(0.6)) segment.scatter = Law(0.7);
    if (segment.scatter && (hybrid || Chance(0.1))) segment.reduce = Law(0.5);
    segment.overlap = segment.sync != Sync::kData && Chance(0.3);
  }

  int Between(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(generator_);
  }
  double Real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(generator_);
  }
  bool Chance(double p) { return Real(0, 1) < p; }

  void SetLayout() {
    profile_.data = Between(1, 3);
    profile_.tensor = Between(1, 3);
    profile_.pipeline = Between(1, 3);
    profile_.microbatches = Between(1, 6);
    profile_.schedule = static_cast<ScheduleKind>(seed_ % kSchedules);
    profile_.virtual_stages = DefaultChunks(profile_.schedule);
    switch (profile_.schedule) {
      case ScheduleKind::kInterleaved:
        profile_.pipeline = Between(2, 3);
        profile_.virtual_stages = Between(1, 3);
        profile_.microbatches = Between(1, 9);
        break;
      case ScheduleKind::kBreadthFirst:
        profile_.virtual_stages = Between(1, 3);
        break;
      case ScheduleKind::kDualPipe:
        profile_.pipeline = 2;
        profile_.microbatches = 2 * Between(2, 4);
        break;
      case ScheduleKind::kDualPipeV:
        profile_.microbatches = 2 * profile_.pipeline + Between(0, 3);
        break;
      case ScheduleKind::kAutomatic:
        profile_.virtual_stages = Between(1, 2);
        if (Chance(0.5)) profile_.activation_limit = Real(1, 4);
        break;
      case ScheduleKind::kCustom:
        SetOrder();
        break;
      default:
        if (seed_ % 4 == 0) profile_.pipeline = 1;
    }
  }

  // That of another schedule, on its stages in reverse.
  void SetOrder() {
    const bool v_shaped = Chance(0.5);
    profile_.virtual_stages = v_shaped ? 2 : 1;
    PipelineOrder order = *MakeOrder(
        v_shaped ? ScheduleKind::kZeroBubbleV : ScheduleKind::kZeroBubbleH2,
        profile_.shape());
    for (int& stage : order.stage_of) stage = profile_.pipeline - 1 - stage;
    std::reverse(order.operations.begin(), order.operations.end());
    profile_.stage_of = order.stage_of;
    profile_.order = order.operations;
  }

  void SetBackward(bool sharded) {
    const bool parts = NeedsParts(profile_.schedule) ||
                       profile_.schedule == ScheduleKind::kCustom;
    if (!parts && !Chance(0.2)) {
      profile_.backward = Segments(2, sharded);
      return;
    }
    profile_.backward_input = Segments(1, sharded);
    profile_.backward_weight = Segments(1, sharded);
  }

  std::vector<ProfileSegment> Segments(double mean, bool sharded) {
    std::vector<ProfileSegment> segments(Between(1, 2));
    for (ProfileSegment& segment : segments) {
      segment.compute = Law(mean);
      segment.collective = Law(0.3 * mean);
      segment.sync = static_cast<Sync>(Between(0, sharded && !steady_ ? 2 : 1));
      segment.count = Between(1, 3);
    }
    if (steady_) segments.back().sync = Sync::kTensor;
    return segments;
  }

  // A law of about the given mean, of every kind.
  Distribution Law(double mean) {
    if (Chance(0.15)) {
      std::vector<stats::MixtureComponent> parts;
      for (int i = Between(2, 3); i > 0; --i) {
        parts.push_back({Real(0.1, 1), SimpleLaw(mean * Real(0.8, 1.5))});
      }
      return Distribution::MakeMixture(std::move(parts));
    }
    return SimpleLaw(mean);
  }

  Distribution SimpleLaw(double mean) {
    const double spread = steady_ ? 0.25 : 1;
    switch (Between(0, 5)) {
      case 0:
        return Distribution::MakeConstant(mean);
      case 1:
        return Distribution::MakeNormal(mean, spread * mean * Real(0, 0.8));
      case 2:
        return Distribution::MakeLognormal(mean, spread * Real(0, 0.5));
      case 3:
        return Distribution::MakeShiftedExponential((1 - 0.2 * spread) * mean,
                                                    0.2 * spread * mean);
      case 4:
        return Distribution::MakeGamma(mean, spread * Real(0, 1.2));
    }
    std::vector<double> samples(Between(5, 40));
    for (double& sample : samples) {
      sample = mean * (1 + spread * Real(-0.5, 0.5));
    }
    return Distribution::MakeEmpirical(std::move(samples));
  }

  void SetSlowRanks() {
    for (int64_t rank = 0; rank < profile_.ranks(); ++rank) {
      if (Chance(0.3)) profile_.slowdown.push_back({rank, Real(0.8, 1.6)});
    }
  }

  void SetStageScale() {
    profile_.stage_scale.resize(profile_.pipeline * profile_.virtual_stages);
    for (double& scale : profile_.stage_scale) scale = Real(0.5, 1.5);
  }

  const uint64_t seed_;
  const bool steady_;
  std::mt19937_64 generator_;
  StepProfile profile_;
};

}  // namespace

StepProfile RandomProfile(uint64_t seed) { return ProfileMaker(seed).Make(); }

StepProfile RandomSteadyProfile(uint64_t seed) {
  return ProfileMaker(seed, true).Make();
}

StepProfile RandomStreamProfile(uint64_t seed) {
  return ProfileMaker(seed).MakeWithStreams();
}

}  // namespace prism::step
