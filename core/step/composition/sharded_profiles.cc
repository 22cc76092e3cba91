#include "core/step/composition/sharded_profiles.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace prism::step {
namespace {

using stats::Distribution;

class Maker {
 public:
  explicit Maker(uint64_t seed) : generator_(seed) {}

  StepProfile Make() {
    do {
      profile_ = {};
      SetLayout();
      profile_.forward = Segments(Log(0.5, 5));
      profile_.backward = Segments(Log(1, 10));
      profile_.backward[0].sync = Sync::kData;
    } while (DrawsOf(profile_) > kMostShardedDraws);
    profile_.gradient_sync = Law(2);
    profile_.optimizer = Law(1);
    if (Chance(0.25)) profile_.compute_regime = Factor(Log(0.003, 0.1));
    if (Chance(0.25)) profile_.network_regime = Factor(Log(0.01, 0.3));
    if (Chance(0.3)) profile_.microbatch_load = Factor(Log(0.01, 0.3));
    SetSlowdowns();
    return std::move(profile_);
  }

 private:
  int Between(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(generator_);
  }
  double Real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(generator_);
  }
  // Evenly spread in the logarithm.
  double Log(double low, double high) {
    return std::exp(Real(std::log(low), std::log(high)));
  }
  bool Chance(double p) { return Real(0, 1) < p; }

  void SetLayout() {
    profile_.data = static_cast<int>(Log(1, 2048.99));
    profile_.tensor = Chance(0.35) ? 1 : static_cast<int>(Log(2, 8.99));
    profile_.microbatches = Chance(0.4) ? 1 : Between(2, 6);
  }

  std::vector<ProfileSegment> Segments(double mean) {
    std::vector<ProfileSegment> segments(Between(1, 3));
    for (ProfileSegment& segment : segments) {
      segment.compute = Law(mean);
      segment.collective = Law(0.2 * mean);
      segment.sync = Chance(0.6)   ? Sync::kData
                     : Chance(0.6) ? Sync::kTensor
                                   : Sync::kNone;
      segment.count = static_cast<int64_t>(Log(1, 24));
    }
    return segments;
  }

  // A law of about the given mean.
  Distribution Law(double mean) {
    const int kind = Between(0, 9);
    if (kind == 0) {
      return Distribution::MakeMixture(
          {{Real(0.1, 1), Simple(mean)},
           {Real(0.1, 1), Simple(mean * Real(0.7, 2))}});
    }
    if (kind == 1) {
      const double weight = Log(1e-5, 1e-2);
      return Distribution::MakeMixture(
          {{1 - weight, Simple(mean)}, {weight, Simple(mean * Log(2, 30))}});
    }
    return Simple(mean);
  }

  Distribution Simple(double mean) {
    const double cv = Log(0.01, 0.6);
    switch (Between(0, 6)) {
      case 0:
        return Distribution::MakeConstant(mean);
      case 1:
        return Distribution::MakeNormal(mean, mean * std::min(cv, 0.3));
      case 2:
      case 3:
        return Distribution::MakeLognormal(mean, cv);
      case 4:
        return Distribution::MakeShiftedExponential(mean * (1 - cv), mean * cv);
      case 5:
        return Distribution::MakeGamma(mean, cv);
    }
    std::vector<double> samples(Between(5, 40));
    const double width = std::min(1.7 * cv, 0.9);
    for (double& s : samples) s = mean * Real(1 - width, 1 + width);
    return Distribution::MakeEmpirical(std::move(samples));
  }

  // A factor around 1.
  Distribution Factor(double cv) {
    switch (Between(0, 2)) {
      case 0:
        return Distribution::MakeNormal(1, cv);
      case 1:
        return Distribution::MakeGamma(1, cv);
    }
    return Distribution::MakeLognormal(1, cv);
  }

  void SetSlowdowns() {
    if (Chance(0.35)) return;
    if (Chance(0.4)) {
      SetFewSlow();
      return;
    }
    const double deviation = Log(0.001, 0.03);
    std::normal_distribution<double> speed(1, deviation);
    for (int64_t rank = 0; rank < profile_.ranks(); ++rank) {
      profile_.slowdown.emplace_back(rank, speed(generator_));
    }
  }

  void SetFewSlow() {
    std::vector<int64_t> ranks(Between(1, 4));
    for (int64_t& rank : ranks) {
      rank = Between(0, static_cast<int>(profile_.ranks()) - 1);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    for (int64_t rank : ranks) {
      profile_.slowdown.emplace_back(rank, 1 + Log(0.02, 0.5));
    }
  }

  std::mt19937_64 generator_;
  StepProfile profile_;
};

}  // namespace

StepProfile RandomShardedProfile(uint64_t seed) { return Maker(seed).Make(); }

double DrawsOf(const StepProfile& profile) {
  double draws = 0;
  for (const auto* segments : {&profile.forward, &profile.backward}) {
    for (const ProfileSegment& segment : *segments) {
      const double own = segment.sync == Sync::kNone ? 2 : 1;
      draws += own * static_cast<double>(segment.count);
    }
  }
  return draws * profile.microbatches * static_cast<double>(profile.ranks());
}

}  // namespace prism::step
