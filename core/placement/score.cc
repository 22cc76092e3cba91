#include "core/placement/score.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/estimate/variation.h"
#include "core/placement/budgets.h"
#include "core/placement/evaluator.h"
#include "core/placement/race.h"
#include "core/placement/step_law.h"
#include "core/stats/normal.h"
#include "core/stats/sample_quantiles.h"
#include "core/step/simulate.h"

namespace prism::placement {
namespace {

using step::StepTime;

// Rows of draws under which replicas are averaged.
constexpr int kDrawRows = 2;
// Candidates between two looks at the budget's end.
constexpr size_t kChunk = 64;
// Of the time left, what is kept for the simulation of the best.
constexpr double kReserveShare = 0.3;
constexpr absl::Duration kLongestReserve = absl::Milliseconds(60);
// Candidates this many standard errors apart are told apart.
constexpr double kErrorsApart = 2;

absl::Duration Reserve(const base::Budget& budget) {
  const absl::Duration left = budget.Remaining();
  if (left == absl::InfiniteDuration()) return absl::ZeroDuration();
  return std::min(kReserveShare * left, kLongestReserve);
}

// A law for where no time is left to simulate one: normal, with the spread of
// the replicas and of what all compute of a step shares.
StepTime NormalLaw(const StepMoments& moments) {
  StepTime law;
  law.mean_seconds = moments.mean;
  law.standard_deviation_seconds =
      std::hypot(std::sqrt(moments.variance),
                 estimate::StepCv(moments.mean, {}) * moments.mean);
  for (size_t i = 0; i < step::kQuantileLevels.size(); ++i) {
    law.quantile_seconds[i] =
        moments.mean + law.standard_deviation_seconds *
                           stats::NormalQuantile(step::kQuantileLevels[i]);
    law.standard_error_seconds[i] = kModelError * moments.mean;
  }
  law.quality = step::Quality::kReduced;
  return law;
}

class Scorer final {
 public:
  Scorer(JobModel& model, const std::vector<NodeList>& placements,
         const Goal& goal, const base::Budget& budget, base::Executor& executor)
      : model_(model),
        placements_(placements),
        goal_(goal),
        budget_(budget),
        executor_(executor) {}

  absl::StatusOr<ScoreResult> Run();

 private:
  absl::Status Evaluate(const base::Budget& budget);
  absl::Status Race(const base::Budget& budget);
  absl::StatusOr<StepLaw> SimulateBest();
  void SetLaws(const StepLaw& law);
  StepTime RacedLaw(const StepLaw& law, size_t i) const;
  void SetDifferences();
  void SetGroups();
  void ShareProbability();

  JobModel& model_;
  const std::vector<NodeList>& placements_;
  const Goal& goal_;
  const base::Budget& budget_;
  base::Executor& executor_;

  std::vector<EvaluatedPlacement> evaluated_;  // the first so many
  double relative_deviation_ = 0;
  RaceResult race_;
  bool raced_ = false;
  std::vector<double> objective_;
  size_t best_ = 0;
  ScoreResult result_;
};

absl::Status Scorer::Evaluate(const base::Budget& budget) {
  Evaluator evaluator(model_, kDrawRows);
  const auto deviation = evaluator.ReplicaDeviation();
  if (!deviation.ok()) return deviation.status();
  relative_deviation_ = *deviation;
  for (size_t first = 0; first < placements_.size(); first += kChunk) {
    const size_t count = std::min(kChunk, placements_.size() - first);
    auto chunk = evaluator.Evaluate({&placements_[first], count},
                                    model_.measured(), budget);
    if (absl::IsDeadlineExceeded(chunk.status()) && first > 0) {
      result_.quality = step::Quality::kReduced;
      break;
    }
    if (!chunk.ok()) return chunk.status();
    std::move(chunk->begin(), chunk->end(), std::back_inserter(evaluated_));
  }
  return absl::OkStatus();
}

absl::Status Scorer::Race(const base::Budget& budget) {
  std::vector<int64_t> nodes;
  for (size_t i = 0; i < evaluated_.size(); ++i) {
    nodes.insert(nodes.end(), placements_[i].begin(), placements_[i].end());
  }
  const Scenarios scenarios(model_.cluster(), nodes, model_.random_key());
  raced_ = scenarios.any();
  if (!raced_) return absl::OkStatus();
  auto race =
      RaceScenarios(model_, scenarios, {placements_.data(), evaluated_.size()},
                    evaluated_, relative_deviation_, budget);
  if (!race.ok()) return race.status();
  race_ = *std::move(race);
  if (race_.quality == step::Quality::kReduced) result_.quality = race_.quality;
  return absl::OkStatus();
}

absl::StatusOr<StepLaw> Scorer::SimulateBest() {
  best_ = 0;
  for (size_t i = 1; i < evaluated_.size(); ++i) {
    if (evaluated_[i].step.mean < evaluated_[best_].step.mean) best_ = i;
  }
  const StepMoments& moments = evaluated_[best_].step;
  const auto graph = model_.Graph(placements_[best_]);
  if (!graph.ok()) return graph.status();
  step::SimulationOptions options;
  options.random_key = model_.random_key();
  const auto simulated = step::Simulate(*graph, options, budget_, executor_);
  if (absl::IsDeadlineExceeded(simulated.status())) {
    result_.quality = step::Quality::kReduced;
    return StepLaw(NormalLaw(moments), moments);
  }
  if (!simulated.ok()) return simulated.status();
  if (simulated->quality == step::Quality::kReduced) {
    result_.quality = step::Quality::kReduced;
  }
  return StepLaw(*simulated, moments);
}

// Of those that were stopped the spread is that of their few scenarios, the
// shape that of the simulation.
StepTime Scorer::RacedLaw(const StepLaw& law, size_t i) const {
  StepMoments moments = {race_.mean[i], evaluated_[i].step.variance};
  if (!race_.stopped[i]) return law.Mixed(moments, race_.scenario_means[i]);
  const double doubt =
      stats::SampleMoments(race_.scenario_means[i]).standard_deviation;
  moments.variance += doubt * doubt;
  return law.Moved(moments);
}

void Scorer::SetLaws(const StepLaw& law) {
  double worst = 0;
  for (size_t i = 0; i < evaluated_.size(); ++i) {
    ScoredPlacement& scored = result_.placements[i];
    if (raced_) {
      scored.step_time = RacedLaw(law, i);
      scored.probability_best = race_.probability_best[i];
      scored.stopped_early = race_.stopped[i];
    } else {
      scored.step_time = law.Moved(evaluated_[i].step);
    }
    worst = std::max(worst, evaluated_[i].step.mean);
  }
  for (size_t i = evaluated_.size(); i < placements_.size(); ++i) {
    result_.placements[i].step_time = law.Moved({worst, 0});
    result_.placements[i].stopped_early = true;
  }
}

void Scorer::SetDifferences() {
  objective_.clear();
  for (const ScoredPlacement& scored : result_.placements) {
    objective_.push_back(ObjectiveOf(scored.step_time, goal_));
  }
  best_ = static_cast<size_t>(
      std::min_element(
          objective_.begin(),
          objective_.begin() + static_cast<ptrdiff_t>(evaluated_.size())) -
      objective_.begin());
  for (size_t i = 0; i < placements_.size(); ++i) {
    ScoredPlacement& scored = result_.placements[i];
    scored.difference_seconds = objective_[i] - objective_[best_];
    const bool same =
        i == best_ || (i < evaluated_.size() && !raced_ &&
                       evaluated_[i].step.mean == evaluated_[best_].step.mean);
    const double model_error = same ? 0 : kModelError * objective_[best_];
    const double race_error =
        raced_ && i < evaluated_.size() ? race_.ErrorOfDifference(i, best_) : 0;
    scored.difference_error_seconds = std::hypot(model_error, race_error);
    for (double& error : scored.step_time.standard_error_seconds) {
      error = std::hypot(error, scored.difference_error_seconds);
    }
  }
}

// Candidates in the order of their objectives; a group ends where the
// distance to its first is more than its errors.
void Scorer::SetGroups() {
  std::vector<size_t> order(placements_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
    return objective_[a] < objective_[b];
  });
  size_t first = order.front();
  int group = 0;
  for (const size_t i : order) {
    ScoredPlacement& scored = result_.placements[i];
    const double apart = objective_[i] - objective_[first];
    if (apart > kErrorsApart * scored.difference_error_seconds) {
      first = i;
      ++group;
    }
    scored.tied_group = group;
    const double ratio = objective_[first] / objective_[best_];
    scored.score = 100 * std::clamp(2 - ratio, 0.0, 1.0);
  }
}

// Where all is known, whoever cannot be told from the best may be it.
void Scorer::ShareProbability() {
  if (raced_) return;
  const auto in_best_group = [](const ScoredPlacement& scored) {
    return scored.tied_group == 0;
  };
  const auto tied = std::count_if(result_.placements.begin(),
                                  result_.placements.end(), in_best_group);
  for (ScoredPlacement& scored : result_.placements) {
    scored.probability_best =
        in_best_group(scored) ? 1.0 / static_cast<double>(tied) : 0;
  }
}

absl::StatusOr<ScoreResult> Scorer::Run() {
  const EarlyBudget early(budget_, Reserve(budget_));
  if (absl::Status status = Evaluate(early); !status.ok()) return status;
  if (absl::Status status = Race(early); !status.ok()) return status;
  const auto law = SimulateBest();
  if (!law.ok()) return law.status();
  result_.placements.resize(placements_.size());
  SetLaws(*law);
  SetDifferences();
  SetGroups();
  ShareProbability();
  return std::move(result_);
}

}  // namespace

double ObjectiveOf(const StepTime& law, const Goal& goal) {
  return goal.objective == Objective::kMean
             ? law.mean_seconds
             : QuantileOf(law, goal.risk_quantile);
}

absl::StatusOr<ScoreResult> ScorePlacements(
    JobModel& model, const std::vector<NodeList>& placements, const Goal& goal,
    const base::Budget& budget, base::Executor& executor) {
  return Scorer(model, placements, goal, budget, executor).Run();
}

absl::StatusOr<ScoreResult> ScorePlacements(const ScoreRequest& request,
                                            const base::Budget& budget,
                                            base::Executor& executor) {
  const auto model =
      JobModel::Create(request.job, request.cluster, request.random_key);
  if (!model.ok()) return model.status();
  return ScorePlacements(**model, request.placements, request.goal, budget,
                         executor);
}

}  // namespace prism::placement
