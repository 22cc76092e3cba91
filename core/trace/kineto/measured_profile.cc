#include "core/trace/kineto/measured_profile.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/step/simulate.h"

namespace prism::kineto {
namespace {

using stats::Distribution;
using Values = std::vector<double>;  // ms, by step

constexpr size_t kFewestForTest = 8;  // steps
constexpr int kPermutations = 999;
constexpr double kTestLevel = 0.05;
constexpr int64_t kCheckSamples = 20'000;
// By which part a median or p95 may be off.
constexpr double kMethodTolerance = 0.02;
constexpr size_t kMedian = 3, kP95 = 5;  // of step::kQuantileLevels

double Mean(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

double SumOfSquares(const Values& values) {
  const double mean = Mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

// The recorded values, each equally likely.
Distribution Recorded(Values values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (*low == *high) return Distribution::MakeConstant(*low);
  return Distribution::MakeEmpirical(std::move(values));
}

double Ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }

const PhaseTime& TimeOf(const StepBreakdown& step, Phase phase) {
  return step.phases[static_cast<size_t>(phase)];
}

double Kernels(const PhaseTime& time) {
  return Ms(time.compute_ns + time.exposed_copy_ns);
}
double Idle(const PhaseTime& time) { return Ms(time.idle_ns); }
double Own(const PhaseTime& time) { return Kernels(time) + Idle(time); }
double Exposed(const PhaseTime& time) {
  return Ms(time.exposed_communication_ns);
}

// The parts of one rank's step that are drawn.
struct RankParts {
  Values forward_kernels, forward_idle, backward_kernels, backward_idle;
  Values optimizer;

  void Add(const StepBreakdown& step) {
    const PhaseTime& forward = TimeOf(step, Phase::kForward);
    const PhaseTime& backward = TimeOf(step, Phase::kBackward);
    forward_kernels.push_back(Kernels(forward));
    forward_idle.push_back(Idle(forward));
    backward_kernels.push_back(Kernels(backward));
    backward_idle.push_back(Idle(backward));
    optimizer.push_back(Own(TimeOf(step, Phase::kOptimizer)));
  }

  double Forward(size_t step) const {
    return forward_kernels[step] + forward_idle[step];
  }
  double Backward(size_t step) const {
    return backward_kernels[step] + backward_idle[step];
  }
  double Total(size_t step) const {
    return Forward(step) + Backward(step) + optimizer[step];
  }
};

// What all ranks share: exposed communication at the end of the forward and at
// the end of the step.
struct Communication {
  Values forward, closing;
};

struct Parts {
  std::vector<RankParts> ranks;
  Communication communication;
  Values durations;

  size_t steps() const { return durations.size(); }
};

// The rank that comes last does not wait: what is exposed there is transfer.
template <typename Exposure>
double LeastExposed(const JoinedStep& step, Exposure exposure) {
  double least = exposure(step.by_trace[0]);
  for (const StepBreakdown& part : step.by_trace)
    least = std::min(least, exposure(part));
  return least;
}

double ForwardExposed(const StepBreakdown& step) {
  return Exposed(TimeOf(step, Phase::kForward));
}
double ClosingExposed(const StepBreakdown& step) {
  return Exposed(TimeOf(step, Phase::kBackward)) +
         Exposed(TimeOf(step, Phase::kOptimizer));
}

Parts Split(const JoinedTrace& joined) {
  Parts parts;
  parts.ranks.resize(joined.traces.size());
  for (const JoinedStep& step : joined.steps) {
    for (size_t t = 0; t < parts.ranks.size(); ++t)
      parts.ranks[t].Add(step.by_trace[t]);
    parts.communication.forward.push_back(LeastExposed(step, ForwardExposed));
    parts.communication.closing.push_back(LeastExposed(step, ClosingExposed));
    parts.durations.push_back(Ms(step.duration_ns));
  }
  return parts;
}

void Shuffle(Values& values, std::mt19937_64& random) {
  for (size_t i = values.size() - 1; i > 0; --i)
    std::swap(values[i], values[random() % (i + 1)]);
}

double SquaresOfTotal(const std::vector<Values>& parts) {
  Values total(parts[0].size(), 0.0);
  for (const Values& part : parts)
    for (size_t i = 0; i < total.size(); ++i) total[i] += part[i];
  return SumOfSquares(total);
}

// Whether the spread of the total is what shuffled parts give too.
bool VaryIndependently(std::vector<Values> parts) {
  const double observed = SquaresOfTotal(parts);
  std::mt19937_64 random(1);
  int below = 0, above = 0;
  for (int i = 0; i < kPermutations; ++i) {
    for (Values& part : parts) Shuffle(part, random);
    const double shuffled = SquaresOfTotal(parts);
    below += shuffled <= observed;
    above += shuffled >= observed;
  }
  const double p = 2.0 * (std::min(below, above) + 1) / (kPermutations + 1);
  return p > kTestLevel;
}

// Writes the segments of one pass.
class Segments {
 public:
  Segments(std::vector<step::ProfileSegment>& segments,
           std::vector<std::string>& names)
      : segments_(segments), names_(names) {}

  // Leaves out what never takes time.
  void Add(const std::string& name, Distribution compute) {
    if (compute.IsConstant() && compute.Mean() == 0) return;
    segments_.emplace_back().compute = std::move(compute);
    names_.push_back(name);
  }
  // At least one segment, the last of which ends with `collective`.
  void End(const std::string& name, const Values& collective) {
    if (segments_.empty()) {
      segments_.emplace_back();  // of no time
      names_.push_back(name);
    }
    if (*std::max_element(collective.begin(), collective.end()) == 0) return;
    segments_.back().collective = Recorded(collective);
    segments_.back().sync = step::Sync::kData;
  }

 private:
  std::vector<step::ProfileSegment>& segments_;
  std::vector<std::string>& names_;
};

// `law` makes the distribution of a part of all ranks.
template <typename Law>
void WriteParts(const Parts& parts, Law law, MeasuredProfile& measured) {
  step::StepProfile& profile = measured.profile;
  Segments forward(profile.forward, measured.forward_names);
  forward.Add("forward kernels", law(&RankParts::forward_kernels));
  forward.Add("forward idle", law(&RankParts::forward_idle));
  forward.End("forward", parts.communication.forward);
  Segments backward(profile.backward, measured.backward_names);
  backward.Add("backward kernels", law(&RankParts::backward_kernels));
  backward.Add("backward idle", law(&RankParts::backward_idle));
  backward.End("backward", {0.0});
  profile.optimizer = law(&RankParts::optimizer);
  profile.gradient_sync = Recorded(parts.communication.closing);
}

Distribution MeanOverRanks(const Parts& parts, Values RankParts::*part) {
  double sum = 0;
  for (const RankParts& rank : parts.ranks) sum += Mean(rank.*part);
  return Distribution::MakeConstant(sum /
                                    static_cast<double>(parts.ranks.size()));
}

// Holds communication at its mean and has the factor of each step make up for
// it, so that the steps keep the lengths they had: `work` is what a factor of
// `regime` multiplies. False where a step would need a factor below 0.
bool HoldCommunication(const Values& work, Values& regime,
                       Communication& communication) {
  const double forward = Mean(communication.forward);
  const double closing = Mean(communication.closing);
  Values held = regime;
  for (size_t s = 0; s < work.size(); ++s) {
    const double off =
        communication.forward[s] + communication.closing[s] - forward - closing;
    if (!(work[s] > 0) || work[s] + off < 0) return false;
    held[s] *= (work[s] + off) / work[s];
  }
  regime = std::move(held);
  std::fill(communication.forward.begin(), communication.forward.end(),
            forward);
  std::fill(communication.closing.begin(), communication.closing.end(),
            closing);
  return true;
}

bool MayVaryIndependently(const Parts& parts, const std::vector<Values>& all) {
  return parts.steps() >= kFewestForTest && VaryIndependently(all);
}

absl::StatusOr<step::StepTime> StepTimeOf(const step::StepProfile& profile,
                                          step::Method method) {
  step::SimulationOptions options;
  options.samples = kCheckSamples;
  options.method = method;
  base::InlineExecutor executor;
  return step::Simulate(step::BuildGraph(profile), options,
                        base::UnlimitedBudget(), executor);
}

// Whether the method that answers by default finds the law of `profile`: few
// wide parts are hard for it.
bool DefaultMethodHolds(const step::StepProfile& profile) {
  const auto found = StepTimeOf(profile, step::Method::kAuto);
  const auto truth = StepTimeOf(profile, step::Method::kMonteCarlo);
  if (!found.ok() || !truth.ok()) return false;
  for (const size_t level : {kMedian, kP95}) {
    const double off =
        found->quantile_seconds[level] - truth->quantile_seconds[level];
    if (std::abs(off) > kMethodTolerance * truth->quantile_seconds[level])
      return false;
  }
  return true;
}

bool WriteIndependentParts(const Parts& parts, MeasuredProfile& measured) {
  const RankParts& rank = parts.ranks[0];
  const std::vector<Values> all = {rank.forward_kernels,
                                   rank.forward_idle,
                                   rank.backward_kernels,
                                   rank.backward_idle,
                                   rank.optimizer,
                                   parts.communication.forward,
                                   parts.communication.closing};
  if (!MayVaryIndependently(parts, all)) return false;
  MeasuredProfile independent;
  independent.profile.data = 1;
  WriteParts(
      parts, [&rank](Values RankParts::*part) { return Recorded(rank.*part); },
      independent);
  independent.parts_are_independent = true;
  if (!DefaultMethodHolds(independent.profile)) return false;
  measured = std::move(independent);
  return true;
}

void WriteMeanParts(const Parts& parts, MeasuredProfile& measured) {
  WriteParts(
      parts,
      [&parts](Values RankParts::*part) { return MeanOverRanks(parts, part); },
      measured);
}

void WriteOneRank(Parts parts, MeasuredProfile& measured) {
  if (WriteIndependentParts(parts, measured)) return;
  Values totals;
  for (size_t s = 0; s < parts.steps(); ++s)
    totals.push_back(parts.ranks[0].Total(s));
  const double mean = Mean(totals);
  Values regime;
  for (const double total : totals) regime.push_back(total / mean);
  if (mean > 0) {
    HoldCommunication(totals, regime, parts.communication);
    measured.profile.compute_regime = Recorded(std::move(regime));
  }
  WriteMeanParts(parts, measured);
}

// How the own times of ranks and steps are made of factors: mean * rank * step
// * what is left.
struct Factors {
  double mean = 0;
  Values rank, step;
  std::vector<Values> left;  // by step, then rank
};

Factors Factorize(const Parts& parts) {
  Factors factors;
  const auto ranks = static_cast<double>(parts.ranks.size());
  for (const RankParts& rank : parts.ranks) {
    Values totals;
    for (size_t s = 0; s < parts.steps(); ++s) totals.push_back(rank.Total(s));
    factors.rank.push_back(Mean(totals));
    factors.mean += Mean(totals) / ranks;
  }
  if (factors.mean == 0) return factors;
  for (double& factor : factors.rank) factor /= factors.mean;
  for (size_t s = 0; s < parts.steps(); ++s) {
    double sum = 0;
    for (const RankParts& rank : parts.ranks) sum += rank.Total(s);
    factors.step.push_back(sum / ranks / factors.mean);
    Values& left = factors.left.emplace_back();
    for (size_t t = 0; t < parts.ranks.size(); ++t) {
      const double expected = factors.mean * factors.rank[t] * factors.step[s];
      left.push_back(expected > 0 ? parts.ranks[t].Total(s) / expected : 1);
    }
  }
  return factors;
}

// The recorded steps as a profile of `factors` has them, without
// communication. Loads multiply passes and not the optimizer.
Values WorkOf(const Parts& parts, const Factors& factors) {
  const double optimizer =
      MeanOverRanks(parts, &RankParts::optimizer).StatedMean();
  const double passes = factors.mean - optimizer;
  Values work;
  for (size_t s = 0; s < parts.steps(); ++s) {
    double slowest_passes = 0, slowest_optimizer = 0;
    for (size_t t = 0; t < parts.ranks.size(); ++t) {
      const double factor = factors.rank[t] * factors.step[s];
      slowest_passes =
          std::max(slowest_passes, passes * factor * factors.left[s][t]);
      slowest_optimizer = std::max(slowest_optimizer, optimizer * factor);
    }
    work.push_back(slowest_passes + slowest_optimizer);
  }
  return work;
}

void WriteSeveralRanks(Parts parts, MeasuredProfile& measured) {
  Factors factors = Factorize(parts);
  if (factors.mean == 0) return WriteMeanParts(parts, measured);
  Communication& communication = parts.communication;
  const Values work = WorkOf(parts, factors);
  // The closing has what makes the step as long as it was.
  for (size_t s = 0; s < parts.steps(); ++s) {
    communication.closing[s] =
        std::max(0.0, parts.durations[s] - work[s] - communication.forward[s]);
  }
  measured.parts_are_independent = MayVaryIndependently(
      parts, {work, communication.forward, communication.closing});
  if (!measured.parts_are_independent)
    HoldCommunication(work, factors.step, communication);
  WriteMeanParts(parts, measured);
  step::StepProfile& profile = measured.profile;
  for (size_t t = 0; t < factors.rank.size(); ++t) {
    const double factor = factors.rank[t];
    if (factor > 0 && factor != 1)
      profile.slowdown.emplace_back(static_cast<int64_t>(t), factor);
  }
  profile.compute_regime = Recorded(std::move(factors.step));
  Values loads;
  for (const Values& left : factors.left)
    loads.insert(loads.end(), left.begin(), left.end());
  profile.microbatch_load = Recorded(std::move(loads));
}

}  // namespace

MeasuredProfile MakeProfile(const JoinedTrace& joined) {
  MeasuredProfile measured;
  measured.profile.data = static_cast<int>(joined.traces.size());
  Parts parts = Split(joined);
  if (parts.ranks.size() == 1) {
    WriteOneRank(std::move(parts), measured);
  } else {
    WriteSeveralRanks(std::move(parts), measured);
  }
  return measured;
}

double ProfileCheck::relative_error() const {
  return (predicted_mean_seconds - measured_mean_seconds) /
         measured_mean_seconds;
}

absl::StatusOr<ProfileCheck> CheckProfile(const MeasuredProfile& profile,
                                          const JoinedTrace& joined) {
  ProfileCheck check;
  Values measured;
  for (const JoinedStep& step : joined.steps)
    measured.push_back(Ms(step.duration_ns) / 1e3);
  check.measured_mean_seconds = Mean(measured);
  const auto time = StepTimeOf(profile.profile, step::Method::kAuto);
  if (!time.ok()) return time.status();
  check.predicted_mean_seconds = time->mean_seconds;
  check.predicted_p50_seconds = time->quantile_seconds[kMedian];
  check.predicted_p95_seconds = time->quantile_seconds[kP95];
  return check;
}

}  // namespace prism::kineto
