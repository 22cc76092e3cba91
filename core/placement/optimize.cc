#include "core/placement/optimize.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "core/placement/bound.h"
#include "core/placement/budgets.h"
#include "core/placement/evaluator.h"
#include "core/placement/exhaustive.h"
#include "core/placement/local_search.h"
#include "core/placement/starts.h"

namespace prism::placement {
namespace {

constexpr int kDrawRows = 2;
// Placements evaluated between two looks at the budget's end.
constexpr size_t kChunk = 256;
// Starts that are improved, and placements that are scored in the end.
constexpr size_t kImproved = 3;
constexpr size_t kFinalists = 4;
// Random placements, of which the median one stands for all.
constexpr uint32_t kRandom = 15;
// Operations times columns that each local search may cost, a fifth of a
// second or so.
constexpr double kSearchWork = 1.5e9;
// Replicas that are looked at, in deviations of one behind the latest.
constexpr double kWindowDeviations = 6;
// Of the time left, what is kept for scoring what was found.
constexpr double kReserveShare = 0.4;
constexpr absl::Duration kLongestReserve = absl::Milliseconds(250);
// Doubtful nodes are also taken for so many deviations slower than their mean:
// the latest of many draws is a slow one.
constexpr double kCaution = 1.5;

struct Found {
  NodeList nodes;
  double mean = 0;

  bool operator==(const Found&) const = default;
};

absl::Duration Reserve(const base::Budget& budget) {
  const absl::Duration left = budget.Remaining();
  if (left == absl::InfiniteDuration()) return absl::ZeroDuration();
  return std::min(kReserveShare * left, kLongestReserve);
}

class Optimizer final {
 public:
  Optimizer(const OptimizeRequest& request, JobModel& model,
            const base::Budget& budget, base::Executor& executor)
      : request_(request),
        model_(model),
        budget_(budget),
        early_(budget, Reserve(budget)),
        executor_(executor),
        evaluator_(model, kDrawRows),
        pools_(model, request.free_nodes, request.constraints, 0) {}

  absl::StatusOr<OptimizeResult> Run();

 private:
  absl::Status Find();
  absl::Status Enumerate();
  absl::Status SearchAs(const Pools& pools);
  // Evaluates placements as far as the budget goes; false once it has ended.
  absl::StatusOr<bool> Evaluate(const std::vector<NodeList>& placements,
                                const Pools& pools, std::vector<Found>& found);
  void KeepBest(std::vector<Found> found);
  absl::Status Compare();
  absl::Status AddRandom();
  absl::Status Answer();
  absl::Status SetBound(const step::StepTime& law, double mean);
  bool HasDoubt() const;

  const OptimizeRequest& request_;
  JobModel& model_;
  const base::Budget& budget_;
  const EarlyBudget early_;
  base::Executor& executor_;
  Evaluator evaluator_;
  Pools pools_;
  std::vector<Found> best_;  // the best first
  std::vector<std::pair<std::string, NodeList>> compared_;
  OptimizeResult result_;
};

bool Optimizer::HasDoubt() const {
  return std::any_of(
      model_.cluster().node_states.begin(), model_.cluster().node_states.end(),
      [](const auto& state) { return state.measured_slowdown.has_value(); });
}

absl::StatusOr<bool> Optimizer::Evaluate(
    const std::vector<NodeList>& placements, const Pools& pools,
    std::vector<Found>& found) {
  for (size_t first = 0; first < placements.size(); first += kChunk) {
    const size_t count = std::min(kChunk, placements.size() - first);
    const bool nothing_yet = best_.empty() && found.empty();
    const auto chunk =
        evaluator_.Evaluate({&placements[first], count}, pools.factors(),
                            nothing_yet ? budget_ : early_);
    if (absl::IsDeadlineExceeded(chunk.status()) && !nothing_yet) {
      result_.quality = step::Quality::kReduced;
      return false;
    }
    if (!chunk.ok()) return chunk.status();
    for (size_t i = 0; i < count; ++i) {
      found.push_back({placements[first + i], (*chunk)[i].step.mean});
    }
    result_.evaluated += static_cast<int64_t>(count);
  }
  return true;
}

void Optimizer::KeepBest(std::vector<Found> found) {
  best_.insert(best_.end(), std::make_move_iterator(found.begin()),
               std::make_move_iterator(found.end()));
  std::stable_sort(
      best_.begin(), best_.end(),
      [](const Found& a, const Found& b) { return a.mean < b.mean; });
  best_.erase(std::unique(best_.begin(), best_.end()), best_.end());
  if (best_.size() > kFinalists) best_.resize(kFinalists);
}

absl::Status Optimizer::Enumerate() {
  std::vector<NodeList> chunk;
  absl::Status status;
  auto flush = [&] {
    std::vector<Found> found;
    const auto all = Evaluate(chunk, pools_, found);
    chunk.clear();
    if (!all.ok()) {
      status = all.status();
      return false;
    }
    KeepBest(std::move(found));
    return *all;
  };
  for (const Pool& pool : pools_.pools()) {
    ForEachPlacement(model_, pools_, pool, [&](const NodeList& nodes) {
      chunk.push_back(nodes);
      return chunk.size() < kChunk || flush();
    });
    if (!chunk.empty() && status.ok()) flush();
  }
  result_.exact = result_.quality == step::Quality::kExact;
  return status;
}

absl::Status Optimizer::SearchAs(const Pools& pools) {
  struct Start {
    Found found;
    const Pool* pool;
  };
  std::vector<Start> starts;
  for (const Pool& pool : pools.pools()) {
    std::vector<Found> found;
    const auto all =
        Evaluate(StartPlacements(model_, pools, pool), pools, found);
    if (!all.ok()) return all.status();
    for (Found& one : found) starts.push_back({std::move(one), &pool});
    if (!*all) break;
  }
  std::stable_sort(starts.begin(), starts.end(),
                   [](const Start& a, const Start& b) {
                     return a.found.mean < b.found.mean;
                   });
  const auto deviation = evaluator_.ReplicaDeviation();
  if (!deviation.ok()) return deviation.status();
  for (size_t i = 0; i < std::min(kImproved, starts.size()); ++i) {
    KeepBest({starts[i].found});
    const SearchOptions options = {.seed = request_.seed + i,
                                   .work = kSearchWork,
                                   .window = kWindowDeviations * *deviation};
    const auto improved = Improve(model_, pools, *starts[i].pool,
                                  starts[i].found.nodes, options, early_);
    if (!improved.ok()) return improved.status();
    result_.evaluated += improved->evaluated;
    std::vector<Found> found;
    const auto all = Evaluate({improved->nodes}, pools, found);
    if (!all.ok()) return all.status();
    KeepBest(std::move(found));
  }
  return absl::OkStatus();
}

absl::Status Optimizer::Find() {
  int64_t count = 0;
  for (const Pool& pool : pools_.pools()) count += PlacementCount(model_, pool);
  if (count <= kMostEnumerated && !HasDoubt()) return Enumerate();
  if (absl::Status status = SearchAs(pools_); !status.ok()) return status;
  if (!HasDoubt()) return absl::OkStatus();
  const Pools cautious(model_, request_.free_nodes, request_.constraints,
                       kCaution);
  std::vector<Found> bold = std::move(best_);
  best_.clear();
  if (absl::Status status = SearchAs(cautious); !status.ok()) return status;
  best_.insert(best_.end(), std::make_move_iterator(bold.begin()),
               std::make_move_iterator(bold.end()));
  return absl::OkStatus();
}

absl::Status Optimizer::AddRandom() {
  std::vector<NodeList> placements = {
      PoorPlacement(model_, pools_, pools_.pools().back())};
  for (uint32_t i = 0; i < kRandom; ++i) {
    const Pool& pool = pools_.pools()[i % pools_.pools().size()];
    placements.push_back(
        RandomPlacement(model_, pools_, pool, model_.random_key(), i));
  }
  std::erase_if(placements, [this](const NodeList& nodes) {
    return static_cast<int>(nodes.size()) != model_.layout().positions();
  });
  std::vector<Found> found;
  const auto all = Evaluate(placements, pools_, found);
  if (!all.ok()) return all.status();
  if (found.empty()) return absl::OkStatus();
  std::stable_sort(
      found.begin(), found.end(),
      [](const Found& a, const Found& b) { return a.mean < b.mean; });
  compared_.emplace_back("random", found[found.size() / 2].nodes);
  compared_.emplace_back("worst", found.back().nodes);
  // A search that was cut short may be worse than luck.
  KeepBest({found.front()});
  return absl::OkStatus();
}

absl::Status Optimizer::Compare() {
  if (absl::Status status = AddRandom(); !status.ok()) return status;
  NodeList given(pools_.given().begin(),
                 pools_.given().begin() + model_.layout().positions());
  compared_.emplace_back("given", std::move(given));
  return absl::OkStatus();
}

absl::Status Optimizer::SetBound(const step::StepTime& law, double mean) {
  const auto deviation = evaluator_.ReplicaDeviation();
  if (!deviation.ok()) return deviation.status();
  double lowest = mean;
  for (const Pool& pool : pools_.pools()) {
    const auto bound = LowestMean(model_, pools_, pool, kDrawRows, *deviation);
    if (!bound.ok()) return bound.status();
    lowest = std::min(lowest, *bound);
  }
  const double objective = ObjectiveOf(law, request_.goal);
  // The law moves with its mean.
  result_.bound_seconds =
      result_.exact ? objective : objective - (mean - lowest);
  result_.gap = (objective - result_.bound_seconds) / objective;
  return absl::OkStatus();
}

absl::Status Optimizer::Answer() {
  std::vector<NodeList> placements;
  for (const Found& found : best_) placements.push_back(found.nodes);
  const size_t finalists = placements.size();
  for (const auto& [name, nodes] : compared_) placements.push_back(nodes);
  const auto scored =
      ScorePlacements(model_, placements, request_.goal, budget_, executor_);
  if (!scored.ok()) return scored.status();
  if (scored->quality == step::Quality::kReduced) {
    result_.quality = step::Quality::kReduced;
  }
  auto objective = [&](size_t i) {
    return ObjectiveOf(scored->placements[i].step_time, request_.goal);
  };
  size_t best = 0;
  for (size_t i = 1; i < finalists; ++i) {
    if (objective(i) < objective(best)) best = i;
  }
  result_.nodes = placements[best];
  result_.step_time = scored->placements[best].step_time;
  result_.spares = pools_.Spares(result_.nodes);
  for (size_t i = finalists; i < placements.size(); ++i) {
    result_.compared_with.push_back(
        {.name = compared_[i - finalists].first,
         .nodes = placements[i],
         .step_time = scored->placements[i].step_time,
         .ratio = objective(i) / objective(best)});
  }
  return SetBound(result_.step_time, best_[best].mean);
}

absl::StatusOr<OptimizeResult> Optimizer::Run() {
  if (pools_.pools().empty()) {
    result_.feasible = false;
    result_.infeasible_reason = pools_.reason();
    return std::move(result_);
  }
  if (absl::Status status = Find(); !status.ok()) return status;
  if (absl::Status status = Compare(); !status.ok()) return status;
  if (absl::Status status = Answer(); !status.ok()) return status;
  return std::move(result_);
}

}  // namespace

absl::StatusOr<OptimizeResult> OptimizePlacement(const OptimizeRequest& request,
                                                 const base::Budget& budget,
                                                 base::Executor& executor) {
  const auto model =
      JobModel::Create(request.job, request.cluster, request.random_key);
  if (!model.ok()) return model.status();
  return Optimizer(request, **model, budget, executor).Run();
}

}  // namespace prism::placement
