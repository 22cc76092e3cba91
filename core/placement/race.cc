#include "core/placement/race.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/placement/budgets.h"

namespace prism::placement {
namespace {

// Operations times columns that a race may cost, a tenth of a second or so.
// The first round is run whatever it costs.
constexpr double kMostWork = 8e8;
// A candidate is hopeless that was never first and is behind the best by more
// standard errors than this.
constexpr double kHopelessErrors = 5;

class Race final {
 public:
  Race(JobModel& model, const Scenarios& scenarios,
       std::span<const NodeList> placements,
       std::span<const EvaluatedPlacement> evaluated, double relative_deviation,
       const base::Budget& budget)
      : placements_(placements),
        evaluated_(evaluated),
        budget_(budget),
        evaluator_(model, scenarios, relative_deviation),
        work_of_block_(static_cast<double>(model.response().operations()) *
                       model.layout().replicas() * kColumns),
        running_(placements.size()) {
    std::iota(running_.begin(), running_.end(), 0);
    result_.scenario_means.resize(placements.size());
    result_.mean.resize(placements.size());
    result_.probability_best.resize(placements.size(), 0);
    result_.stopped.resize(placements.size(), 0);
  }

  absl::StatusOr<RaceResult> Run();

 private:
  absl::Status RunBlock();
  // Shares of the scenarios seen in which each is first, by place in running_.
  std::vector<double> Shares() const;
  size_t Leader() const;
  void StopHopeless();
  void Summarize();

  double MeanOf(size_t candidate) const {
    const auto& means = result_.scenario_means[candidate];
    return std::accumulate(means.begin(), means.end(), 0.0) /
           static_cast<double>(means.size());
  }

  std::span<const NodeList> placements_;
  std::span<const EvaluatedPlacement> evaluated_;
  const base::Budget& budget_;
  ScenarioEvaluator evaluator_;
  const double work_of_block_;
  double work_ = 0;
  int seen_ = 0;
  std::vector<size_t> running_;
  RaceResult result_;
};

// All or nothing: those who run have seen the same scenarios.
absl::Status Race::RunBlock() {
  std::vector<double> means(running_.size() * kColumns);
  for (size_t i = 0; i < running_.size(); ++i) {
    if (absl::Status status = StatusOf(budget_); !status.ok()) return status;
    const EvaluatedPlacement& placement = evaluated_[running_[i]];
    evaluator_.Means(placements_[running_[i]], placement.communication,
                     placement.gain, seen_, &means[i * kColumns]);
  }
  for (size_t i = 0; i < running_.size(); ++i) {
    auto& seen = result_.scenario_means[running_[i]];
    seen.insert(seen.end(), &means[i * kColumns],
                &means[i * kColumns] + kColumns);
  }
  seen_ += kColumns;
  work_ += work_of_block_ * static_cast<double>(running_.size());
  return absl::OkStatus();
}

std::vector<double> Race::Shares() const {
  std::vector<double> shares(running_.size(), 0);
  std::vector<size_t> first;
  for (int k = 0; k < seen_; ++k) {
    double best = INFINITY;
    for (const size_t i : running_) {
      best = std::min(best, result_.scenario_means[i][k]);
    }
    first.clear();
    for (size_t i = 0; i < running_.size(); ++i) {
      const double mean = result_.scenario_means[running_[i]][k];
      if (mean <= best * (1 + kModelError)) first.push_back(i);
    }
    for (const size_t i : first) {
      shares[i] += 1.0 / (seen_ * static_cast<double>(first.size()));
    }
  }
  return shares;
}

size_t Race::Leader() const {
  return *std::min_element(
      running_.begin(), running_.end(),
      [this](size_t a, size_t b) { return MeanOf(a) < MeanOf(b); });
}

void Race::StopHopeless() {
  const std::vector<double> shares = Shares();
  const size_t leader = Leader();
  const double best = MeanOf(leader);
  std::vector<size_t> left;
  for (size_t i = 0; i < running_.size(); ++i) {
    const size_t candidate = running_[i];
    const double behind = MeanOf(candidate) - best;
    const double error = std::hypot(
        result_.ErrorOfDifference(candidate, leader), kModelError * best);
    if (shares[i] > 0 || behind <= kHopelessErrors * error) {
      left.push_back(candidate);
    } else {
      result_.stopped[candidate] = 1;
    }
  }
  running_ = std::move(left);
}

void Race::Summarize() {
  const std::vector<double> shares = Shares();
  for (size_t i = 0; i < running_.size(); ++i) {
    result_.probability_best[running_[i]] = shares[i];
  }
  const size_t leader = Leader();
  const auto& of_leader = result_.scenario_means[leader];
  const double best = MeanOf(leader);
  for (size_t i = 0; i < placements_.size(); ++i) {
    const auto seen = static_cast<ptrdiff_t>(result_.scenario_means[i].size());
    const double leader_then =
        std::accumulate(of_leader.begin(), of_leader.begin() + seen, 0.0) /
        static_cast<double>(seen);
    result_.mean[i] = best + MeanOf(i) - leader_then;
  }
}

absl::StatusOr<RaceResult> Race::Run() {
  for (int round = kColumns; round <= Scenarios::kMost; round *= 2) {
    while (seen_ < round) {
      const absl::Status status = RunBlock();
      if (absl::IsDeadlineExceeded(status) && seen_ > 0) {
        result_.quality = step::Quality::kReduced;
        Summarize();
        return std::move(result_);
      }
      if (!status.ok()) return status;
    }
    StopHopeless();
    const double next = work_of_block_ * static_cast<double>(running_.size()) *
                        static_cast<double>(seen_ / kColumns);
    if (work_ + next > kMostWork) break;
  }
  Summarize();
  return std::move(result_);
}

}  // namespace

double RaceResult::ErrorOfDifference(size_t a, size_t b) const {
  const size_t seen =
      std::min(scenario_means[a].size(), scenario_means[b].size());
  double sum = 0, squares = 0;
  for (size_t k = 0; k < seen; ++k) {
    const double difference = scenario_means[a][k] - scenario_means[b][k];
    sum += difference;
    squares += difference * difference;
  }
  const auto n = static_cast<double>(seen);
  const double variance = std::max(0.0, squares - sum * sum / n) / (n - 1);
  return std::sqrt(variance / n);
}

absl::StatusOr<RaceResult> RaceScenarios(
    JobModel& model, const Scenarios& scenarios,
    std::span<const NodeList> placements,
    std::span<const EvaluatedPlacement> evaluated, double relative_deviation,
    const base::Budget& budget) {
  return Race(model, scenarios, placements, evaluated, relative_deviation,
              budget)
      .Run();
}

}  // namespace prism::placement
