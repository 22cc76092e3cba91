#include "core/placement/scenarios.h"

#include <algorithm>

#include "core/estimate/rank_slowdown.h"
#include "core/placement/normal_maximum.h"
#include "core/stats/draw_kernels.h"
#include "core/stats/sampler.h"

namespace prism::placement {
namespace {

// Keeps the streams of nodes apart from those of operations.
constexpr uint32_t kNodeSlot = 1;

// Replicas this many deviations behind the latest do not count: what they
// would add is below a hundredth of a deviation.
constexpr double kWindow = 4;

}  // namespace

Scenarios::Scenarios(const hardware::Cluster& cluster,
                     std::span<const int64_t> nodes, uint64_t random_key)
    : row_of_(static_cast<size_t>(cluster.nodes), -1) {
  std::vector<char> used(row_of_.size(), 0);
  for (const int64_t node : nodes) used[node] = 1;
  std::vector<uint64_t> replica(kMost, 0), sample(kMost);
  for (int k = 0; k < kMost; ++k) sample[k] = static_cast<uint64_t>(k);
  std::vector<double> uniform(kMost), second(kMost);
  stats::Sampler::Scratch scratch;
  int32_t rows = 0;
  for (const hardware::NodeState& state : cluster.node_states) {
    if (!used[state.node] || !state.measured_slowdown ||
        state.measured_slowdown->IsConstant()) {
      continue;
    }
    row_of_[state.node] = rows++;
    factors_.resize(static_cast<size_t>(rows) * kMost);
    stats::UniformRows({.key = random_key,
                        .slot = kNodeSlot,
                        .operation = static_cast<uint32_t>(state.node),
                        .replica = replica.data(),
                        .sample = sample.data()},
                       kMost, uniform.data(), second.data());
    stats::Sampler(*state.measured_slowdown)
        .Draw(uniform.data(), kMost, scratch,
              &factors_[static_cast<size_t>(rows - 1) * kMost]);
  }
}

ScenarioEvaluator::ScenarioEvaluator(JobModel& model,
                                     const Scenarios& scenarios,
                                     double relative_deviation)
    : model_(model),
      scenarios_(scenarios),
      relative_deviation_(relative_deviation) {}

void ScenarioEvaluator::SetPositions(const NodeList& nodes, int first) {
  // What is known, and the prior of what nobody measured, as they are.
  model_.PositionSlowdowns(nodes, model_.measured(), column_);
  position_.resize(nodes.size() * kColumns);
  for (size_t i = 0; i < nodes.size(); ++i) {
    double* row = &position_[i * kColumns];
    std::fill_n(row, kColumns, column_[i]);
    if (!scenarios_.IsDoubtful(nodes[i])) continue;
    const auto factors = scenarios_.Factors(nodes[i]);
    const double mean = model_.measured()[nodes[i]];
    for (int c = 0; c < kColumns; ++c) row[c] *= factors[first + c] / mean;
  }
}

void ScenarioEvaluator::SetCell(int replica, int stage, float* slowdown) {
  const auto cell = model_.layout().Cell(replica, stage);
  if (cell.size() == 1) {
    const double* row = &position_[cell.front().position * kColumns];
    for (int c = 0; c < kColumns; ++c) {
      slowdown[c] = static_cast<float>(row[c]);
    }
    return;
  }
  for (int c = 0; c < kColumns; ++c) {
    for (const Seat& seat : cell) {
      column_[seat.position] = position_[seat.position * kColumns + c];
    }
    slowdown[c] =
        static_cast<float>(model_.CellSlowdown(replica, stage, column_));
  }
}

void ScenarioEvaluator::Means(const NodeList& nodes,
                              const Communication& communication, double gain,
                              int first, double* means) {
  const int replicas = model_.layout().replicas();
  const int stages = model_.layout().stages();
  const size_t row = static_cast<size_t>(stages) * kColumns;
  SetPositions(nodes, first);
  slowdown_.resize(row);
  slowest_.assign(row, 0);
  ends_.resize(row * replicas);
  for (int r = 0; r < replicas; ++r) {
    for (int s = 0; s < stages; ++s) {
      float* slowdown = &slowdown_[s * kColumns];
      SetCell(r, s, slowdown);
      for (int c = 0; c < kColumns; ++c) {
        slowest_[s * kColumns + c] =
            std::max(slowest_[s * kColumns + c], slowdown[c]);
      }
    }
    model_.response().Ends(model_.pipeline(communication.pipeline),
                           slowdown_.data(), workspace_, &ends_[r * row]);
  }
  std::vector<double> end(replicas);
  std::vector<EqualNormals> late;
  for (int c = 0; c < kColumns; ++c) {
    double latest = 0;
    for (int r = 0; r < replicas; ++r) {
      end[r] = 0;
      for (int s = 0; s < stages; ++s) {
        const ClosingTime& closing = communication.closing[s];
        end[r] = std::max(end[r],
                          ends_[r * row + s * kColumns + c] + closing.network +
                              closing.optimizer * slowest_[s * kColumns + c]);
      }
      latest = std::max(latest, end[r]);
    }
    const double deviation = relative_deviation_ * latest;
    late.clear();
    for (const double seconds : end) {
      if (latest - seconds <= kWindow * deviation) {
        late.push_back({.mean = seconds});
      }
    }
    means[c] = gain + MaximumOfNormals(late, deviation).mean;
  }
}

}  // namespace prism::placement
