#include "core/placement/rank_nodes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/estimate/rank_slowdown.h"
#include "core/estimate/variation.h"
#include "core/placement/budgets.h"
#include "core/placement/job_model.h"
#include "core/placement/normal_maximum.h"

namespace prism::placement {
namespace {

// Nodes of the table of steps over slowdowns; between them it is linear.
constexpr int kTableSteps = 64;

// The step over the slowdown of one node among typical ones.
class SlowdownCurve final {
 public:
  SlowdownCurve(JobModel& model, Communication communication)
      : model_(model), communication_(std::move(communication)) {}

  // Tabulates slowdowns between the two, relative to a typical node.
  absl::Status Tabulate(double typical, double fastest, double slowest,
                        const base::Budget& budget) {
    first_ = fastest;
    step_ = (slowest - fastest) / kTableSteps;
    const double alone = MeanStep(typical, 1);
    for (int i = 0; i <= kTableSteps; ++i) {
      if (budget.Cancelled()) return StatusOf(budget);
      values_.push_back(MeanStep(typical, first_ + i * step_) / alone);
    }
    return absl::OkStatus();
  }

  double At(double slowdown) const {
    if (step_ <= 0) return values_.front();
    const double place =
        std::clamp((slowdown - first_) / step_, 0.0, double{kTableSteps});
    const auto node = std::min(static_cast<size_t>(place), values_.size() - 2);
    const double part = place - static_cast<double>(node);
    return values_[node] + part * (values_[node + 1] - values_[node]);
  }

  // Slowdown at which the curve passes `value`; infinity where it never does.
  double Inverse(double value) const {
    for (size_t i = 1; i < values_.size(); ++i) {
      if (values_[i] <= value) continue;
      const double rise = values_[i] - values_[i - 1];
      const double part = std::max(0.0, value - values_[i - 1]) / rise;
      return first_ + (static_cast<double>(i - 1) + part) * step_;
    }
    return INFINITY;
  }

 private:
  // Mean over the places of the first replica.
  double MeanStep(double typical, double slowdown) {
    const Layout& layout = model_.layout();
    std::vector<double> positions(layout.positions(), typical);
    double sum = 0;
    for (int s = 0; s < layout.stages(); ++s) {
      const int32_t place = layout.Cell(0, s).front().position;
      positions[place] = typical * slowdown;
      sum += Step(positions);
      positions[place] = typical;
    }
    return sum / layout.stages();
  }

  // Only the first replica's nodes may differ from the last one's.
  double Step(const std::vector<double>& positions) {
    const Layout& layout = model_.layout();
    const double touched = EndOf(0, positions);
    const double typical = EndOf(layout.replicas() - 1, positions);
    return layout.replicas() == 1 ? touched : std::max(touched, typical);
  }

  double EndOf(int replica, const std::vector<double>& positions) {
    const int stages = model_.layout().stages();
    std::vector<float> slowdown, clock(stages);
    for (int s = 0; s < stages; ++s) {
      slowdown.push_back(
          static_cast<float>(model_.CellSlowdown(replica, s, positions)));
    }
    model_.response().MeanEnds(model_.pipeline(communication_.pipeline),
                               slowdown, 1, workspace_, clock.data());
    double end = 0;
    for (int s = 0; s < stages; ++s) {
      const ClosingTime& closing = communication_.closing[s];
      end = std::max(
          end, clock[s] + closing.network + closing.optimizer * slowdown[s]);
    }
    return end;
  }

  JobModel& model_;
  const Communication communication_;
  ReplicaResponse::Workspace workspace_;
  double first_ = 1;
  double step_ = 0;
  std::vector<double> values_;
};

// What is known of each node: its median factor, and its law where it has one.
struct KnownNodes {
  std::vector<double> median;
  std::vector<const stats::Distribution*> law;
  std::vector<hardware::Health> health;
};

KnownNodes Known(const hardware::Cluster& cluster) {
  KnownNodes known;
  known.median = estimate::MeasuredSlowdowns(cluster);
  known.law.resize(known.median.size(), nullptr);
  known.health.resize(known.median.size(), hardware::Health::kHealthy);
  for (const hardware::NodeState& state : cluster.node_states) {
    known.health[state.node] = state.health;
    if (!state.measured_slowdown) continue;
    known.law[state.node] = &*state.measured_slowdown;
    known.median[state.node] = state.measured_slowdown->Quantile(0.5);
  }
  // Of those that nobody measured the slowest GPU counts, as in any node.
  const double prior =
      estimate::SlowestFactor(cluster.gpus_per_node, estimate::Variation{});
  for (double& factor : known.median) {
    if (factor == estimate::kNotMeasured) factor = prior;
  }
  return known;
}

bool CanRun(hardware::Health health) {
  return health == hardware::Health::kHealthy ||
         health == hardware::Health::kDegraded;
}

double TypicalFactor(const KnownNodes& known) {
  std::vector<double> factors;
  for (size_t i = 0; i < known.median.size(); ++i) {
    if (CanRun(known.health[i])) factors.push_back(known.median[i]);
  }
  if (factors.empty()) factors = known.median;
  const auto middle =
      factors.begin() + static_cast<ptrdiff_t>(factors.size() / 2);
  std::nth_element(factors.begin(), middle, factors.end());
  return *middle;
}

// Range of slowdowns, relative to a typical node, that the ranking asks about.
std::pair<double, double> RangeOf(const std::vector<int64_t>& nodes,
                                  const KnownNodes& known, double typical,
                                  double class_width) {
  double fastest = 1;
  // A node this slow costs more than a class, wherever compute counts at all.
  double slowest = 1 + 10 * class_width;
  for (const int64_t node : nodes) {
    fastest = std::min(fastest, known.median[node] / typical);
    slowest = std::max(slowest, known.median[node] / typical);
  }
  return {fastest, slowest};
}

void SetClasses(double class_width, std::vector<RankedNode>& ranked) {
  double fastest = INFINITY;
  for (const RankedNode& node : ranked) {
    if (CanRun(node.health)) {
      fastest = std::min(fastest, node.relative_slowdown);
    }
  }
  for (RankedNode& node : ranked) {
    // Rounding must not push the first of a class into the one before.
    const double classes =
        std::log(node.relative_slowdown / fastest) / std::log1p(class_width);
    node.performance_class =
        CanRun(node.health)
            ? std::min(kCannotRunClass - 1, static_cast<int>(classes + 1e-9))
            : kCannotRunClass;
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const RankedNode& a, const RankedNode& b) {
                     return std::pair(!CanRun(a.health), a.relative_slowdown) <
                            std::pair(!CanRun(b.health), b.relative_slowdown);
                   });
}

}  // namespace

absl::StatusOr<std::vector<RankedNode>> RankNodes(
    const RankNodesRequest& request, const base::Budget& budget) {
  const auto model =
      JobModel::Create(request.job, request.cluster, request.random_key);
  if (!model.ok()) return model.status();
  auto communication = (*model)->BestCommunication();
  if (!communication.ok()) return communication.status();
  std::vector<int64_t> nodes = request.nodes;
  if (nodes.empty()) {
    nodes.resize(static_cast<size_t>(request.cluster.nodes));
    std::iota(nodes.begin(), nodes.end(), 0);
  }
  const KnownNodes known = Known(request.cluster);
  const double typical = TypicalFactor(known);
  const auto [fastest, slowest] =
      RangeOf(nodes, known, typical, request.class_width);
  SlowdownCurve curve(**model, *std::move(communication));
  absl::Status status = curve.Tabulate(typical / (*model)->assumed_slowdown(),
                                       fastest, slowest, budget);
  if (!status.ok()) return status;
  const double straggler = curve.Inverse(1 + request.class_width) * typical;
  std::vector<RankedNode> ranked;
  for (const int64_t node : nodes) {
    const double factor = known.median[node];
    const stats::Distribution* law = known.law[node];
    ranked.push_back({.node = node,
                      .relative_slowdown = curve.At(factor / typical),
                      .straggler_probability =
                          law == nullptr ? (factor > straggler ? 1.0 : 0.0)
                          : std::isinf(straggler) ? 0
                                                  : 1 - law->Cdf(straggler),
                      .health = known.health[node]});
  }
  SetClasses(request.class_width, ranked);
  return ranked;
}

}  // namespace prism::placement
