#include "tests/fuzz/profile_input.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/step/simulate.h"

namespace prism::fuzz {
namespace {

using stats::Distribution;
using step::ProfileSegment;
using step::ScheduleKind;
using step::StepProfile;
using step::Sync;

constexpr int64_t kMostDraws = 4000;  // of one step
constexpr int64_t kSamples = 200;

class ProfileReader {
 public:
  explicit ProfileReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  StepProfile Read() {
    ReadLayout();
    const bool sharded = profile_.pipeline == 1;
    profile_.forward = Segments(sharded);
    ReadBackward(sharded);
    profile_.transfer = Law();
    if (profile_.schedule == ScheduleKind::kRoundRobin) {
      profile_.weight_upload = Law();
    }
    profile_.gradient_sync = Law();
    profile_.optimizer = Law();
    if (Below(2) == 1) profile_.compute_regime = Factor();
    if (Below(2) == 1) profile_.network_regime = Factor();
    if (Below(2) == 1) profile_.microbatch_load = Factor();
    if (Below(2) == 1) ReadStageScale();
    LimitWork();
    if (Below(2) == 1) ReadSlowdown();
    return std::move(profile_);
  }

 private:
  int Byte() {
    if (next_ == bytes_.size()) return 0;
    return bytes_[next_++];
  }
  // 0 ... count - 1.
  int Below(int count) { return Byte() % count; }
  int Between(int low, int high) { return low + Below(high - low + 1); }

  // Above 0: mostly around 1, rarely anything from 1e-6 to 1e6.
  double Positive() {
    const double part = (Byte() + 1) / 256.0;
    const int magnitude = Below(32);
    return part * std::pow(10.0, magnitude < 13 ? magnitude - 6 : 0);
  }
  // 0 or more, rarely above 2.
  double Spread() {
    const int byte = Byte();
    return byte < 240 ? byte / 120.0 : byte - 239.0;
  }

  void ReadLayout() {
    profile_.schedule = Schedule();
    profile_.virtual_stages = DefaultChunks(profile_.schedule);
    profile_.pipeline = Between(1, 5);
    profile_.tensor = Between(1, 4);
    const int data = Byte();
    profile_.data = data < 250 ? data % 8 + 1 : 1 << (data - 245);
    profile_.microbatches = Between(1, 12);
    FitShape();
  }

  // One of the first three, of which the seeds are, or any.
  ScheduleKind Schedule() {
    const int byte = Byte();
    const int any = static_cast<int>(ScheduleKind::kRoundRobin) + 1;
    return static_cast<ScheduleKind>(byte < 128 ? byte % 3 : byte % any);
  }

  // Sizes that the schedule takes.
  void FitShape() {
    switch (profile_.schedule) {
      case ScheduleKind::kInterleaved:
        profile_.pipeline = std::max(profile_.pipeline, 2);
        profile_.virtual_stages = Between(1, 3);
        profile_.microbatches =
            profile_.pipeline * (profile_.microbatches % 3 + 1);
        break;
      case ScheduleKind::kBreadthFirst:
        profile_.virtual_stages = Between(1, 3);
        break;
      case ScheduleKind::kDualPipe:
        profile_.pipeline += profile_.pipeline % 2;
        profile_.microbatches += profile_.microbatches % 2;
        [[fallthrough]];
      case ScheduleKind::kDualPipeV:
        profile_.microbatches += 2 * profile_.pipeline;
        break;
      case ScheduleKind::kAutomatic:
        profile_.virtual_stages = Between(1, 3);
        profile_.activation_limit = 1 + Byte() / 32.0;
        break;
      case ScheduleKind::kCustom:
        ReadOrder();
        break;
      case ScheduleKind::kTwoBufferedWeights:
        profile_.microbatches =
            std::max(profile_.microbatches, profile_.pipeline);
        break;
      case ScheduleKind::kRoundRobin:
        profile_.virtual_stages = Between(1, 3);
        break;
      default:
        break;
    }
  }

  // Zero-bubble orders with neighbours exchanged, as long as they can run.
  void ReadOrder() {
    const ScheduleKind kind = Below(2) == 0 ? ScheduleKind::kZeroBubbleH2
                                            : ScheduleKind::kZeroBubbleV;
    profile_.virtual_stages = DefaultChunks(kind);
    step::PipelineOrder order = *MakeOrder(kind, profile_.shape());
    profile_.stage_of = order.stage_of;
    for (int changes = Below(8); changes > 0; --changes) {
      step::PipelineOrder changed = order;
      auto& operations =
          changed.operations[static_cast<size_t>(Below(profile_.pipeline))];
      const auto at = static_cast<size_t>(Byte()) % (operations.size() - 1);
      std::swap(operations[at], operations[at + 1]);
      if (Validate(changed).ok()) order = std::move(changed);
    }
    profile_.order = std::move(order.operations);
  }

  void ReadBackward(bool sharded) {
    if (NeedsParts(profile_.schedule) ||
        profile_.schedule == ScheduleKind::kCustom) {
      profile_.backward_input = Segments(sharded);
      profile_.backward_weight = Segments(sharded);
    } else {
      profile_.backward = Segments(sharded);
    }
  }

  // Fewer replicas where a step would have too many draws.
  void LimitWork() {
    int64_t runs = 0;
    for (const auto* segments :
         {&profile_.forward, &profile_.backward, &profile_.backward_input,
          &profile_.backward_weight}) {
      for (const ProfileSegment& segment : *segments) runs += segment.count;
    }
    const int64_t steps =
        IsContinuous(profile_.schedule)
            ? step::WarmUpSteps(profile_.pipeline, profile_.microbatches) + 1
            : 1;
    const int64_t draws = 2 * runs * steps * profile_.microbatches *
                          profile_.virtual_stages * profile_.pipeline *
                          profile_.tensor;
    profile_.data = static_cast<int>(std::clamp<int64_t>(
        kMostDraws / std::max<int64_t>(draws, 1), 1, profile_.data));
  }

  std::vector<ProfileSegment> Segments(bool sharded) {
    std::vector<ProfileSegment> segments(Between(1, 3));
    for (ProfileSegment& segment : segments) {
      segment.compute = Law();
      segment.collective = Law();
      segment.sync = static_cast<Sync>(Below(sharded ? 3 : 2));
      segment.count = Between(1, 5);
    }
    return segments;
  }

  Distribution Law() {
    if (Below(8) < 7) return SimpleLaw();
    std::vector<stats::MixtureComponent> parts;
    for (int i = Between(1, 3); i > 0; --i) {
      // The rare ones are stalls.
      const double weight = (Byte() + 1) * (Below(3) == 0 ? 1e-5 : 1);
      parts.push_back({weight, SimpleLaw()});
    }
    return Distribution::MakeMixture(std::move(parts));
  }

  Distribution SimpleLaw() {
    switch (Below(6)) {
      case 0:
        return Distribution::MakeConstant(Below(4) == 0 ? 0 : Positive());
      case 1: {
        const double mean = Positive();
        return Distribution::MakeNormal(mean, mean * Spread());
      }
      case 2: {
        const double mean = Positive();
        return Distribution::MakeLognormal(mean, Spread());
      }
      case 3: {
        const double shift = Below(2) == 0 ? 0 : Positive();
        return Distribution::MakeShiftedExponential(shift, Positive());
      }
      case 4: {
        const double mean = Positive();
        return Distribution::MakeGamma(mean, Spread());
      }
      default:
        break;
    }
    std::vector<double> samples(Between(1, 12));
    for (double& sample : samples) sample = Below(8) == 0 ? 0 : Positive();
    return Distribution::MakeEmpirical(std::move(samples));
  }

  Distribution Factor() {
    Distribution law = Law();
    return law.StatedMean() > 0 ? law : Distribution::MakeConstant(1);
  }

  void ReadSlowdown() {
    const int64_t ranks = profile_.ranks();
    const int64_t step = Between(1, 4);
    for (int64_t rank = Below(4); rank < ranks; rank += step) {
      profile_.slowdown.push_back({rank, 0.5 + Byte() / 128.0});
    }
  }

  void ReadStageScale() {
    profile_.stage_scale.resize(
        static_cast<size_t>(profile_.pipeline * profile_.virtual_stages));
    for (double& scale : profile_.stage_scale) scale = 0.25 + Byte() / 128.0;
  }

  const std::span<const uint8_t> bytes_;
  size_t next_ = 0;
  StepProfile profile_;
};

bool IsTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

void CheckTime(const step::StepTime& time) {
  PRISM_CHECK(IsTime(time.mean_seconds));
  PRISM_CHECK(IsTime(time.standard_deviation_seconds));
  double last = 0;
  for (size_t i = 0; i < step::kQuantileLevels.size(); ++i) {
    PRISM_CHECK(IsTime(time.quantile_seconds[i]));
    PRISM_CHECK(IsTime(time.standard_error_seconds[i]));
    PRISM_CHECK(time.quantile_seconds[i] >= last);
    last = time.quantile_seconds[i];
  }
}

}  // namespace

StepProfile ReadProfile(std::span<const uint8_t> bytes) {
  return ProfileReader(bytes).Read();
}

void CheckProfile(const StepProfile& profile) {
  const step::StepGraph graph = step::BuildGraph(profile);
  PRISM_CHECK(graph.Validate().ok());
  const auto nominal = step::SimulateNominal(graph);
  PRISM_CHECK(nominal.ok() && IsTime(nominal->seconds));
  base::InlineExecutor executor;
  const auto time = step::Simulate(graph, {.samples = kSamples},
                                   base::UnlimitedBudget(), executor);
  PRISM_CHECK(time.ok());
  CheckTime(*time);
}

}  // namespace prism::fuzz
