#include "core/placement/evaluator.h"

#include <algorithm>
#include <cmath>

#include "core/placement/budgets.h"
#include "core/placement/normal_maximum.h"

namespace prism::placement {
namespace {

// Replicas of one placement whose mean is computed; the mean of those further
// back follows from what these gain on their ends without chance.
constexpr size_t kMostMeans = 16;
// Replicas further behind the latest than this many deviations are never last,
// even where theirs gains two deviations more by chance than the latest's.
constexpr double kWindow = kNegligibleDeviations + 2;

}  // namespace

Evaluator::Evaluator(JobModel& model, int draw_rows)
    : model_(model), columns_(model, draw_rows) {}

absl::StatusOr<double> Evaluator::ReplicaDeviation() {
  if (relative_deviation_ >= 0) return relative_deviation_;
  NodeList first(model_.layout().positions());
  for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<int64_t>(i);
  const auto communication = model_.CommunicationOf(first);
  if (!communication.ok()) return communication.status();
  const std::vector<float> alike(model_.layout().stages(), 1.0f);
  std::vector<float> clock(alike.size());
  ReplicaResponse::Workspace workspace;
  const TimedPipeline& pipeline = model_.pipeline(communication->pipeline);
  model_.response().MeanEnds(pipeline, alike, 1, workspace, clock.data());
  relative_deviation_ =
      model_.response().EndDeviation(pipeline, alike, workspace) /
      *std::max_element(clock.begin(), clock.end());
  return relative_deviation_;
}

absl::Status Evaluator::Describe(const NodeList& nodes,
                                 std::span<const double> measured,
                                 EvaluatedPlacement& placement) {
  auto communication = model_.CommunicationOf(nodes);
  if (!communication.ok()) return communication.status();
  placement.communication = *std::move(communication);
  model_.PositionSlowdowns(nodes, measured, position_slowdown_);
  const Layout& layout = model_.layout();
  stage_slowdown_.resize(layout.stages());
  std::vector<float> slowest(layout.stages(), 0);
  placement.columns.resize(layout.replicas());
  for (int r = 0; r < layout.replicas(); ++r) {
    for (int s = 0; s < layout.stages(); ++s) {
      stage_slowdown_[s] =
          static_cast<float>(model_.CellSlowdown(r, s, position_slowdown_));
      slowest[s] = std::max(slowest[s], stage_slowdown_[s]);
    }
    placement.columns[r] =
        columns_.IndexOf(placement.communication.pipeline, stage_slowdown_);
  }
  placement.closing.clear();
  for (int s = 0; s < layout.stages(); ++s) {
    const ClosingTime& closing = placement.communication.closing[s];
    placement.closing.push_back(closing.network +
                                closing.optimizer * slowest[s]);
  }
  return absl::OkStatus();
}

double Evaluator::EndOf(const EvaluatedPlacement& placement,
                        const float* clock) const {
  double end = 0;
  for (size_t s = 0; s < placement.closing.size(); ++s) {
    end = std::max(end, clock[s] + placement.closing[s]);
  }
  return end;
}

void Evaluator::MarkLatest(const EvaluatedPlacement& placement) {
  ends_.clear();
  double latest = 0;
  for (const int32_t column : placement.columns) {
    ends_.emplace_back(-EndOf(placement, columns_.ends(column)), column);
    latest = std::max(latest, -ends_.back().first);
  }
  std::sort(ends_.begin(), ends_.end());
  ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
  const double window = kWindow * relative_deviation_ * latest;
  for (size_t i = 0; i < std::min(kMostMeans, ends_.size()); ++i) {
    if (latest + ends_[i].first > window) break;
    columns_.WantMean(ends_[i].second);
  }
}

void Evaluator::Finish(EvaluatedPlacement& placement) {
  std::vector<EqualNormals> normals;
  double gain = 0;
  int means = 0;
  for (const int32_t column : placement.columns) {
    if (!columns_.has_mean(column)) continue;
    gain += EndOf(placement, columns_.means(column)) -
            EndOf(placement, columns_.ends(column));
    ++means;
  }
  gain /= std::max(means, 1);
  placement.gain = gain;
  double latest = 0;
  for (const int32_t column : placement.columns) {
    const double end = columns_.has_mean(column)
                           ? EndOf(placement, columns_.means(column))
                           : EndOf(placement, columns_.ends(column)) + gain;
    normals.push_back({.mean = end});
    latest = std::max(latest, end);
  }
  const MaximumMoments last =
      MaximumOfNormals(normals, relative_deviation_ * latest);
  placement.step = {last.mean, last.variance};
}

absl::StatusOr<std::vector<EvaluatedPlacement>> Evaluator::Evaluate(
    std::span<const NodeList> placements, std::span<const double> measured,
    const base::Budget& budget) {
  if (auto deviation = ReplicaDeviation(); !deviation.ok()) {
    return deviation.status();
  }
  std::vector<EvaluatedPlacement> evaluated(placements.size());
  for (size_t i = 0; i < placements.size(); ++i) {
    absl::Status status = StatusOf(budget);
    status.Update(Describe(placements[i], measured, evaluated[i]));
    if (!status.ok()) return status;
  }
  absl::Status status = columns_.ComputeEnds(budget);
  if (!status.ok()) return status;
  for (const EvaluatedPlacement& placement : evaluated) MarkLatest(placement);
  status = columns_.ComputeMeans(budget);
  if (!status.ok()) return status;
  for (EvaluatedPlacement& placement : evaluated) Finish(placement);
  return evaluated;
}

}  // namespace prism::placement
