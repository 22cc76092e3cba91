#include "core/completion/projection.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/completion/attempts.h"
#include "core/stats/draw_kernels.h"

namespace prism::completion {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What an open-ended question is answered to.
constexpr double kMedianError = 0.001;
constexpr double kProbabilityError = 0.005;

// Groups of pairs, independent of each other: standard errors are taken from
// how their means differ.
constexpr int kGroups = 16;
constexpr int64_t kFirstPairs = 4;  // of a group
constexpr int64_t kMostPairs = 3'125;
constexpr int64_t kPairsAtOnce = 64;

// Kept back from a deadline for summing up and sending the answer.
constexpr absl::Duration kAnswerReserve = absl::Milliseconds(5);

// Address of the groups' offsets, apart from those of attempts.h.
constexpr uint32_t kOffsets = 1000;

double Fraction(double x) { return x - std::floor(x); }

bool Ends(double seconds) { return seconds < kInfinity; }

// The budget less what the answer itself takes.
class SimulationBudget final : public base::Budget {
 public:
  SimulationBudget(const base::Budget& budget, bool open_ended,
                   absl::Duration patience)
      : budget_(budget),
        patience_(open_ended ? patience : absl::InfiniteDuration()) {}
  bool Cancelled() const override { return budget_.Cancelled(); }
  absl::Duration Elapsed() const override { return budget_.Elapsed(); }
  absl::Duration Remaining() const override {
    return std::min(budget_.Remaining() - kAnswerReserve,
                    patience_ - budget_.Elapsed());
  }

 private:
  const base::Budget& budget_;
  absl::Duration patience_;
};

// Mean of independent groups' means and what their scatter says of it.
Estimate MeanOfGroups(const std::array<double, kGroups>& mean) {
  double sum = 0, squares = 0;
  for (double m : mean) sum += m;
  const double value = sum / kGroups;
  if (!Ends(value)) return {kInfinity, kInfinity};
  for (double m : mean) squares += (m - value) * (m - value);
  return {value, std::sqrt(squares / (kGroups - 1) / kGroups)};
}

Estimate GroupedMean(const std::vector<std::vector<Outcome>>& groups,
                     const std::function<double(const Outcome&)>& of) {
  std::array<double, kGroups> mean = {};
  for (int g = 0; g < kGroups; ++g) {
    for (const Outcome& outcome : groups[g]) mean[g] += of(outcome);
    mean[g] /= static_cast<double>(groups[g].size());
  }
  return MeanOfGroups(mean);
}

double Deviation(const std::vector<std::vector<Outcome>>& groups, double mean,
                 const std::function<double(const Outcome&)>& of) {
  if (!Ends(mean)) return kInfinity;
  double squares = 0, count = 0;
  for (const auto& group : groups) {
    for (const Outcome& outcome : group) {
      squares += (of(outcome) - mean) * (of(outcome) - mean);
      ++count;
    }
  }
  return std::sqrt(squares / (count - 1));
}

// Simulated finishing times, by group and all together.
class FinishLaw {
 public:
  explicit FinishLaw(const std::vector<std::vector<Outcome>>& groups)
      : groups_(groups.size()) {
    for (size_t g = 0; g < groups.size(); ++g) {
      for (const Outcome& run : groups[g]) {
        groups_[g].push_back(run.finish_seconds);
      }
      std::sort(groups_[g].begin(), groups_[g].end());
      all_.insert(all_.end(), groups_[g].begin(), groups_[g].end());
    }
    std::sort(all_.begin(), all_.end());
  }

  // Of finishing by then. Where all runs agree the error is not 0: one more
  // might not.
  Estimate Chance(double deadline) const {
    std::array<double, kGroups> share = {};
    for (int g = 0; g < kGroups; ++g) share[g] = ShareBy(groups_[g], deadline);
    Estimate chance = MeanOfGroups(share);
    chance.standard_error = std::max(
        chance.standard_error, 1 / (static_cast<double>(all_.size()) + 2));
    return chance;
  }

  // As stats::SortedQuantile, where the last values may be infinite.
  double Quantile(double p) const {
    const double position =
        std::clamp(p, 0.0, 1.0) * static_cast<double>(all_.size() - 1);
    const size_t low = static_cast<size_t>(position);
    const double part = position - static_cast<double>(low);
    if (part == 0) return all_[low];
    if (!Ends(all_[low + 1])) return kInfinity;
    return all_[low] + part * (all_[low + 1] - all_[low]);
  }

  // Half the distance between the quantiles that the error of the
  // distribution function leaves possible.
  double QuantileError(double p) const {
    const double quantile = Quantile(p);
    if (!Ends(quantile)) return kInfinity;
    const double error = Chance(quantile).standard_error;
    return (Quantile(p + error) - Quantile(p - error)) / 2;
  }

  double unfinished_share() const {
    const auto first = std::lower_bound(all_.begin(), all_.end(), kInfinity);
    return static_cast<double>(all_.end() - first) /
           static_cast<double>(all_.size());
  }

 private:
  static double ShareBy(const std::vector<double>& sorted, double deadline) {
    const auto later = std::upper_bound(sorted.begin(), sorted.end(), deadline);
    return static_cast<double>(later - sorted.begin()) /
           static_cast<double>(sorted.size());
  }

  std::vector<std::vector<double>> groups_;
  std::vector<double> all_;
};

class Simulation {
 public:
  Simulation(const RunPlan& plan, const ProjectionOptions& options,
             const base::Budget& budget, base::Executor& executor)
      : plan_(plan),
        options_(options),
        budget_(budget, !options.samples.has_value(), options.patience),
        executor_(executor),
        choice_(ChooseCheckpoints(plan)),
        model_(plan, choice_.steps, options.random_key),
        groups_(kGroups) {}

  absl::StatusOr<Projection> Run() {
    const int64_t most = WantedPairs(options_.samples.value_or(0));
    int64_t wanted = options_.samples.has_value() ? std::min(most, kFirstPairs)
                                                  : kFirstPairs;
    bool complete = true;
    while (complete && wanted > pairs_) {
      complete = Extend(wanted);
      if (budget_.Cancelled()) return absl::CancelledError("cancelled");
      if (pairs_ == 0) {
        return absl::DeadlineExceededError(
            "the deadline passed before the first runs were simulated");
      }
      wanted = options_.samples.has_value() ? std::min(most, 4 * pairs_)
                                            : PairsForTarget();
    }
    return Summary(complete);
  }

 private:
  static int64_t WantedPairs(int64_t samples) {
    const int64_t pairs = (samples + 2 * kGroups - 1) / (2 * kGroups);
    return std::clamp<int64_t>(pairs, 1, kMostPairs);
  }

  // Pairs of one group lie evenly over the unit cube: multiples of the powers
  // of one irrational number (Roberts 2018) from an offset of the group's own.
  PairStart StartOf(int group, int64_t i) const {
    constexpr double kStep = 1 / 1.22074408460575947536;  // x^4 = x + 1
    const uint64_t replica[stats::kRowPad] = {static_cast<uint64_t>(group)};
    const uint64_t sample[stats::kRowPad] = {};
    double offset[4][stats::kRowPad];
    for (uint32_t slot : {0u, 1u}) {
      stats::UniformRows({options_.random_key, slot, kOffsets, replica, sample},
                         1, offset[2 * slot], offset[2 * slot + 1]);
    }
    auto place = [&](int dimension, double step) {
      const double u =
          Fraction(offset[dimension][0] + static_cast<double>(i) * step);
      return std::clamp(u, 0x1p-53, 1 - 0x1p-53);
    };
    return {static_cast<uint64_t>(i * kGroups + group), place(0, kStep),
            place(1, kStep * kStep), place(2, kStep * kStep * kStep)};
  }

  // Simulates pairs up to `wanted` of each group; false and nothing kept where
  // the budget ended first.
  bool Extend(int64_t wanted) {
    std::vector<std::vector<Outcome>> more(kGroups);
    std::vector<char> complete(kGroups, 1);
    executor_.ParallelFor(kGroups, [&](int g) {
      for (int64_t i = pairs_; i < wanted && complete[g]; i += kPairsAtOnce) {
        std::vector<PairStart> starts;
        for (int64_t k = i; k < std::min(wanted, i + kPairsAtOnce); ++k) {
          starts.push_back(StartOf(g, k));
        }
        std::vector<Outcome> outcomes;
        complete[g] = model_.Simulate(starts, budget_, outcomes);
        more[g].insert(more[g].end(), outcomes.begin(), outcomes.end());
      }
    });
    for (char whole : complete) {
      if (!whole) return false;
    }
    for (int g = 0; g < kGroups; ++g) {
      groups_[g].insert(groups_[g].end(), more[g].begin(), more[g].end());
    }
    pairs_ = wanted;
    return true;
  }

  // At most pairs_ if the errors are small enough.
  int64_t PairsForTarget() const {
    const FinishLaw law(groups_);
    const double median = law.Quantile(0.5);
    const double error = law.QuantileError(0.5);
    double worst =
        Ends(error) && median > 0 ? error / (kMedianError * median) : 0;
    for (double deadline : plan_.deadlines_seconds) {
      worst = std::max(worst,
                       law.Chance(deadline).standard_error / kProbabilityError);
    }
    if (worst <= 1) return 0;
    const double factor = std::clamp(1.1 * worst * worst, 1.25, 4.0);
    const double more = std::ceil(static_cast<double>(pairs_) * factor);
    return std::min(kMostPairs, static_cast<int64_t>(more));
  }

  Projection Summary(bool complete) const {
    const FinishLaw law(groups_);
    Projection result;
    result.checkpoints = choice_;
    result.samples = 2 * pairs_ * kGroups;
    result.quality = complete ? Quality::kFull : Quality::kReduced;
    result.unfinished_share = law.unfinished_share();
    for (double deadline : plan_.deadlines_seconds) {
      result.by_deadline.push_back(law.Chance(deadline));
    }
    for (int i = 0; i < Projection::kLevels; ++i) {
      const double p = (i + 1) / 100.0;
      result.quantile_seconds[i] = law.Quantile(p);
      result.quantile_error_seconds[i] = law.QuantileError(p);
    }
    SummarizeTime(result);
    return result;
  }

  void SummarizeTime(Projection& result) const {
    auto mean = [&](auto of) { return GroupedMean(groups_, of); };
    auto finish = [](const Outcome& run) { return run.finish_seconds; };
    result.finish_seconds = mean(finish);
    result.finish_deviation_seconds =
        Deviation(groups_, result.finish_seconds.value, finish);
    auto failures = [](const Outcome& run) {
      return static_cast<double>(run.failures);
    };
    result.effective_ratio = mean([](const Outcome& run) {
      if (run.clock_seconds <= 0) return Ends(run.finish_seconds) ? 1.0 : 0.0;
      return std::clamp(run.productive_seconds / run.clock_seconds, 0.0, 1.0);
    });
    result.failures = mean(failures);
    result.failures_deviation =
        Deviation(groups_, result.failures.value, failures);
    result.preemptions = mean([](const Outcome& run) {
      return static_cast<double>(run.preemptions);
    });
    result.productive_seconds =
        mean([](const Outcome& run) { return run.productive_seconds; });
    result.lost_seconds =
        mean([](const Outcome& run) { return run.lost_seconds; });
    result.writing_seconds =
        mean([](const Outcome& run) { return run.writing_seconds; });
    result.restart_seconds =
        mean([](const Outcome& run) { return run.restart_seconds; });
    result.waiting_seconds =
        mean([](const Outcome& run) { return run.waiting_seconds; });
    result.away_seconds =
        mean([](const Outcome& run) { return run.away_seconds; });
  }

  const RunPlan& plan_;
  const ProjectionOptions& options_;
  const SimulationBudget budget_;
  base::Executor& executor_;
  const CheckpointChoice choice_;
  const AttemptModel model_;
  std::vector<std::vector<Outcome>> groups_;
  int64_t pairs_ = 0;  // of each group
};

}  // namespace

absl::StatusOr<Projection> Project(const RunPlan& plan,
                                   const ProjectionOptions& options,
                                   const base::Budget& budget,
                                   base::Executor& executor) {
  return Simulation(plan, options, budget, executor).Run();
}

}  // namespace prism::completion
