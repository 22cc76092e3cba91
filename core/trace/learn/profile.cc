#include "core/trace/learn/profile.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/stats/sample_quantiles.h"
#include "core/step/simulate.h"
#include "core/trace/learn/recorded_order.h"

namespace prism::trace {
namespace {

constexpr double kMilliseconds = 1000;
constexpr size_t kP95 = 5;  // in step::kQuantileLevels
static_assert(step::kQuantileLevels[kP95] == 0.95);

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

// Samples of a factor, their mean made 1.
std::vector<double> AsFactor(std::vector<double> values) {
  const double mean = MeanOf(values);
  for (double& value : values) value /= mean;
  return values;
}

class Maker {
 public:
  Maker(const StepModel& model, stats::FitFamily family)
      : model_(model), shape_(model.computes.shape), family_(family) {}

  absl::StatusOr<LearnedProfile> Make() && {
    step::StepProfile& profile = learned_.profile;
    const Sizes& sizes = model_.observed.sizes;
    profile.data = sizes.data;
    profile.pipeline = sizes.pipeline;
    profile.virtual_stages = sizes.chunks;
    profile.microbatches = static_cast<int>(shape_.microbatches);
    auto order = RecordedOrder(model_.observed, profile.microbatches);
    if (!order.ok()) return order.status();
    SetSchedule(*order, profile);
    SetWork();
    SetComputes();
    SetTransfer();
    SetClosing();
    return std::move(learned_);
  }

 private:
  stats::Distribution Fit(const char* field, std::vector<double> samples) {
    const size_t count = samples.size();
    stats::Fit fit = stats::FitDistribution(std::move(samples), family_);
    if (!fit.distribution.IsConstant())
      learned_.fits.push_back({field, fit.family, fit.distance, count});
    return std::move(fit.distribution);
  }

  // Mean work of each replica's component, seconds, without step effects.
  void SetWork() {
    work_.assign(shape_.replicas * shape_.components, 0);
    for (size_t c = 0; c < shape_.components; ++c) {
      double alike = 0;
      size_t count = 0;
      for (size_t s = 0; s < shape_.steps; ++s) {
        for (size_t d = 0; d < shape_.replicas; ++d) {
          const size_t row = shape_.Row(s, d, c);
          for (size_t i = 0; i < shape_.microbatches; ++i) {
            const double rest = std::exp(model_.computes.rest[row + i]);
            work_[d * shape_.components + c] +=
                rest / static_cast<double>(shape_.steps * shape_.microbatches);
            alike += model_.computes.IsDistinct(d, c) ? 0 : rest;
            count += model_.computes.IsDistinct(d, c) ? 0 : 1;
          }
        }
      }
      for (size_t d = 0; d < shape_.replicas; ++d) {
        double& work = work_[d * shape_.components + c];
        if (!model_.computes.IsDistinct(d, c))
          work = alike / static_cast<double>(count);
        work *= std::exp(model_.computes.Typical(d, c));
      }
    }
  }

  size_t half() const { return shape_.components / 2; }

  // Forward and backward of replica d on the stage and chunk of component c.
  double Both(size_t d, size_t c) const {
    const size_t at = d * shape_.components + c;
    return work_[at] + work_[at + half()];
  }

  // A rank that is nowhere distinct, whose work stands for the stage; the
  // median over the replicas where all are.
  double TypicalBoth(size_t c) const {
    std::vector<double> both;
    for (size_t d = 0; d < shape_.replicas; ++d) {
      if (!model_.computes.IsDistinct(d, c) &&
          !model_.computes.IsDistinct(d, c + half()))
        return Both(d, c);
      both.push_back(Both(d, c));
    }
    std::nth_element(both.begin(),
                     both.begin() + static_cast<ptrdiff_t>(both.size() / 2),
                     both.end());
    return both[both.size() / 2];
  }

  void SetComputes() {
    step::StepProfile& profile = learned_.profile;
    const auto pipeline = static_cast<size_t>(profile.pipeline);
    const auto chunks = static_cast<size_t>(profile.virtual_stages);
    std::vector<double> of_stage(half());
    for (size_t c = 0; c < half(); ++c) of_stage[c] = TypicalBoth(c);
    const double mean = MeanOf(of_stage);
    profile.stage_scale.resize(half());
    for (size_t c = 0; c < half(); ++c) {
      const size_t virtual_stage = c % chunks * pipeline + c / chunks;
      profile.stage_scale[virtual_stage] = of_stage[c] / mean;
    }
    if (half() == 1) profile.stage_scale.clear();
    SetSlowdowns(of_stage);
    SetFactors(mean);
  }

  void SetSlowdowns(const std::vector<double>& of_stage) {
    step::StepProfile& profile = learned_.profile;
    const auto chunks = static_cast<size_t>(profile.virtual_stages);
    for (size_t d = 0; d < shape_.replicas; ++d) {
      for (size_t stage = 0; stage * chunks < half(); ++stage) {
        double own = 0, typical = 0;
        bool distinct = false;
        for (size_t c = stage * chunks; c < (stage + 1) * chunks; ++c) {
          own += Both(d, c);
          typical += of_stage[c];
          distinct = distinct || model_.computes.IsDistinct(d, c) ||
                     model_.computes.IsDistinct(d, c + half());
        }
        if (!distinct) continue;
        const size_t rank = d * static_cast<size_t>(profile.pipeline) + stage;
        profile.slowdown.emplace_back(static_cast<int64_t>(rank),
                                      own / typical);
      }
    }
  }

  // Takes a micro-batch's rest apart into the load that its components share
  // and what each has of its own. `mean`: forward and backward, seconds.
  void SetFactors(double mean) {
    std::vector<double> loads, forward, backward;
    const bool shared =
        model_.computes.shares_both &&
        (shape_.components == 2 || model_.computes.shares_forward ||
         model_.computes.shares_backward);
    const double share = shared ? SharedVariance() : 0;
    const auto n = static_cast<double>(shape_.components);
    for (size_t s = 0; s < shape_.steps; ++s) {
      for (size_t d = 0; d < shape_.replicas; ++d) {
        for (size_t i = 0; i < shape_.microbatches; ++i) {
          const double common = MeanRest(s, d, i);
          if (share > 0) loads.push_back(std::exp(common * std::sqrt(share)));
          for (size_t c = 0; c < shape_.components; ++c) {
            const double rest = model_.computes.rest[shape_.Row(s, d, c) + i];
            // Taking the mean of n away leaves 1 - 1/n of the variance.
            const double own =
                share > 0 ? (rest - common) * std::sqrt(n / (n - 1)) : rest;
            (c < half() ? forward : backward).push_back(std::exp(own));
          }
        }
      }
    }
    double forward_mean = 0;
    for (size_t d = 0; d < shape_.replicas; ++d) {
      for (size_t c = 0; c < half(); ++c) {
        forward_mean += work_[d * shape_.components + c] / Both(d, c) /
                        static_cast<double>(shape_.replicas * half());
      }
    }
    SetLaws(mean * forward_mean, mean * (1 - forward_mean), std::move(loads),
            std::move(forward), std::move(backward));
  }

  void SetLaws(double forward_seconds, double backward_seconds,
               std::vector<double> loads, std::vector<double> forward,
               std::vector<double> backward) {
    step::StepProfile& profile = learned_.profile;
    const auto segment = [&](const char* field, std::vector<double> factors,
                             double seconds) {
      for (double& factor : factors) factor *= seconds * kMilliseconds;
      return step::ProfileSegment{.compute = Fit(field, std::move(factors)),
                                  .collective = {}};
    };
    profile.forward = {
        segment("forward", AsFactor(std::move(forward)), forward_seconds)};
    profile.backward = {
        segment("backward", AsFactor(std::move(backward)), backward_seconds)};
    if (!loads.empty())
      profile.microbatch_load = Fit("microbatch_load", AsFactor(loads));
  }

  double MeanRest(size_t s, size_t d, size_t i) const {
    double mean = 0;
    for (size_t c = 0; c < shape_.components; ++c)
      mean += model_.computes.rest[shape_.Row(s, d, c) + i];
    return mean / static_cast<double>(shape_.components);
  }

  // Of the variance of a micro-batch's mean rest, what its components share:
  // all but what the mean of independent ones would have.
  double SharedVariance() const {
    const auto n = static_cast<double>(shape_.components);
    double of_means = 0, within = 0;
    for (size_t s = 0; s < shape_.steps; ++s) {
      for (size_t d = 0; d < shape_.replicas; ++d) {
        for (size_t i = 0; i < shape_.microbatches; ++i) {
          const double mean = MeanRest(s, d, i);
          of_means += mean * mean;
          for (size_t c = 0; c < shape_.components; ++c) {
            const double own =
                model_.computes.rest[shape_.Row(s, d, c) + i] - mean;
            within += own * own / (n - 1);
          }
        }
      }
    }
    return of_means <= 0 ? 0 : std::max(0.0, 1 - within / n / of_means);
  }

  void SetTransfer() {
    std::vector<double> hops;
    for (const ObservedStep& step : model_.observed.steps) {
      for (size_t o = 0; o < step.work.size(); ++o) {
        const OperationKind kind = model_.observed.operations[o].kind;
        if (kind == OperationKind::kForwardReceive ||
            kind == OperationKind::kBackwardReceive)
          hops.push_back(std::max(step.work[o], 0.0) * kMilliseconds);
      }
    }
    if (!hops.empty())
      learned_.profile.transfer = Fit("transfer", std::move(hops));
  }

  // Splits measured steps into what computes, transfers and optimizer take by
  // themselves and the rest.
  void SetClosing() {
    std::vector<double> optimizers, alone, closings, ends;
    for (const ObservedStep& step : model_.observed.steps) {
      std::vector<double> work = step.work;
      for (size_t o = 0; o < work.size(); ++o) {
        const OperationKind kind = model_.observed.operations[o].kind;
        if (kind == OperationKind::kOptimizer) {
          optimizers.push_back(std::max(work[o], 0.0) * kMilliseconds);
        } else if (!IsCompute(kind) && !IsPointToPoint(kind)) {
          work[o] = 0;
        }
      }
      ends.resize(work.size());
      alone.push_back(model_.observed.program.Run(work, ends) * kMilliseconds);
      closings.push_back(
          std::max(step.measured_seconds * kMilliseconds - alone.back(), 0.0));
    }
    step::StepProfile& profile = learned_.profile;
    if (!optimizers.empty())
      profile.optimizer = Fit("optimizer", std::move(optimizers));
    profile.gradient_sync = stats::Distribution::MakeConstant(MeanOf(closings));
    SetRegimes(MeanOf(alone), closings);
  }

  // Two factors drawn apart can follow a step only where its parts go their
  // own ways; else one factor makes the whole step as long as it was.
  void SetRegimes(double alone, const std::vector<double>& closings) {
    std::vector<double> compute, network;
    const double mean = MeanOf(closings);
    const bool together =
        model_.closing.compute_draw == model_.closing.delay_draw;
    for (size_t s = 0; s < shape_.steps; ++s) {
      double effect = 0;
      for (size_t c = 0; c < shape_.components; ++c)
        effect += model_.computes.step_effect[s * shape_.components + c] /
                  static_cast<double>(shape_.components);
      const double rest = together ? (closings[s] - mean) / alone : 0;
      compute.push_back(std::max(std::exp(effect) + rest, 0.0));
      if (mean > 0) network.push_back(closings[s] / mean);
    }
    learned_.profile.compute_regime = FitSteps("compute_regime", compute);
    if (!together && mean > 0)
      learned_.profile.network_regime = FitSteps("network_regime", network);
  }

  // Factors of steps, their mean made 1. Between two recorded steps lie those
  // that were not recorded, as in StepSampler.
  stats::Distribution FitSteps(const char* field, std::vector<double> factors) {
    factors = AsFactor(std::move(factors));
    if (family_ != stats::FitFamily::kEmpirical)
      return Fit(field, std::move(factors));
    std::sort(factors.begin(), factors.end());
    std::vector<double> between;
    for (size_t i = 0; i < stats::kMostSamples; ++i) {
      between.push_back(stats::SortedQuantile(
          factors, (static_cast<double>(i) + 0.5) /
                       static_cast<double>(stats::kMostSamples)));
    }
    return Fit(field, std::move(between));
  }

  const StepModel& model_;
  const TableShape shape_;
  stats::FitFamily family_;
  std::vector<double> work_;  // by replica and component
  LearnedProfile learned_;
};

}  // namespace

absl::StatusOr<LearnedProfile> MakeProfile(const StepModel& model,
                                           stats::FitFamily family) {
  return Maker(model, family).Make();
}

absl::StatusOr<ProfileCheck> CheckProfile(const StepModel& model,
                                          const step::StepProfile& profile) {
  constexpr size_t kSamples = 4000;
  const auto of = [](const std::vector<double>& sorted) {
    return MeanAndTail{MeanOf(sorted), stats::SortedQuantile(sorted, 0.95)};
  };
  ProfileCheck check;
  std::vector<double> recorded;
  for (const ObservedStep& step : model.observed.steps)
    recorded.push_back(step.measured_seconds);
  std::sort(recorded.begin(), recorded.end());
  check.recorded = of(recorded);
  check.predicted = of(PredictSteps(model, kSamples, 1).measured);
  base::InlineExecutor executor;
  step::SimulationOptions options;
  options.samples = kSamples;
  const auto time = step::Simulate(step::BuildGraph(profile), options,
                                   base::UnlimitedBudget(), executor);
  if (!time.ok()) return time.status();
  check.profile = {time->mean_seconds, time->quantile_seconds[kP95]};
  return check;
}

}  // namespace prism::trace
