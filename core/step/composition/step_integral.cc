#include "core/step/composition/step_integral.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "core/stats/sample_quantiles.h"
#include "core/step/composition/hypercube.h"

namespace prism::step {
namespace {

constexpr int kCompute = static_cast<int>(FactorClass::kCompute);
constexpr int kNetwork = static_cast<int>(FactorClass::kNetwork);

// Whether it varies from step to step or is another factor than 1.
bool IsStepWide(const SharedFactor& shared) {
  return shared.scope == FactorScope::kStep &&
         !(shared.distribution.IsConstant() && shared.distribution.Mean() == 1);
}

class Integral {
 public:
  explicit Integral(const IntegralRequest& request)
      : request_(request),
        graph_(*request.graph),
        n_(request.samples),
        cube_(request.random_key, request.samples),
        value_(n_) {
    law_place_.reserve(n_);
    for (const double score : cube_.scores()) {
      law_place_.push_back(ScoreLaw::PlaceOf(score));
    }
  }

  IntegratedStep Run() {
    PlaceLatest();
    DrawFactors();
    PlaceBetweenNodes();
    step_.assign(n_, 0.0);
    leading_.assign(n_, 0);
    for (int stage : LatestFirst()) AddStage(stage);
    return Summary();
  }

 private:
  void DrawFactors() {
    for (auto& factor : factor_) factor.assign(n_, 1.0);
    size_t factors = 0;
    for (const SharedFactor& shared : graph_.shared_factors) {
      if (!IsStepWide(shared)) continue;
      const auto& value = Tabulate(request_.factors[factors++]);
      const Hypercube::Coordinate stratum = cube_.Next();
      for (int c = 0; c < kFactorClasses; ++c) {
        if (!shared.applies_to[c]) continue;
        for (int i = 0; i < n_; ++i) factor_[c][i] *= value[stratum[i]];
      }
    }
  }

  // The law by stratum.
  const std::vector<double>& Tabulate(const ScoreLaw& law) {
    for (int s = 0; s < n_; ++s) value_[s] = law.At(law_place_[s]);
    return value_;
  }

  // The score of the latest replica, and what goes with it.
  void PlaceLatest() {
    std::vector<MaximumLaw::Place> place;
    for (const double score : cube_.scores()) {
      place.push_back(MaximumLaw::PlaceOf(score));
    }
    place_.reserve(n_);
    for (const uint32_t stratum : cube_.Next())
      place_.push_back(place[stratum]);
  }

  // Where each sample's ratio of network to compute lies among the nodes.
  void PlaceBetweenNodes() {
    node_.assign(n_, 0);
    part_.assign(n_, 0.0);
    const auto& nodes = request_.nodes;
    if (nodes.size() == 1) return;
    for (int i = 0; i < n_; ++i) {
      // Rare factors of 0 count as very small ones.
      const double x =
          std::log(factor_[kNetwork][i] / std::max(factor_[kCompute][i], 1e-9));
      int k = 0;
      const int last = static_cast<int>(nodes.size()) - 2;
      while (k < last && nodes[k + 1].log_ratio < x) ++k;
      node_[i] = k;
      part_[i] = std::clamp(
          (std::exp(x) - std::exp(nodes[k].log_ratio)) /
              (std::exp(nodes[k + 1].log_ratio) - std::exp(nodes[k].log_ratio)),
          0.0, 1.0);
    }
  }

  // When the latest replica is done with `stage`, by sample.
  std::vector<double> LatestReplica(int stage) const {
    std::vector<const MaximumLaw*> laws;
    for (const RegimeNode& node : request_.nodes) {
      laws.push_back(&node.stages[stage]);
    }
    const auto& compute = factor_[kCompute];
    std::vector<double> end(n_);
    for (int i = 0; i < n_; ++i) {
      const double low = laws[node_[i]]->At(place_[i]);
      end[i] = low * compute[i];
      if (part_[i] == 0) continue;
      const double high = laws[node_[i] + 1]->At(place_[i]);
      end[i] = (low + part_[i] * (high - low)) * compute[i];
    }
    return end;
  }

  // Stages that can be last, by when they end on average: the closings of the
  // first are drawn evenly together with the place of the latest replica.
  std::vector<int> LatestFirst() const {
    std::vector<std::pair<double, int>> order;
    for (int stage = 0; stage < graph_.grid.stages; ++stage) {
      if (!request_.needed[stage]) continue;
      order.emplace_back(-(request_.nodes[0].stages[stage].At(0) +
                           request_.closings[stage].mean),
                         stage);
    }
    std::sort(order.begin(), order.end());
    std::vector<int> stages;
    for (const auto& [end, stage] : order) stages.push_back(stage);
    return stages;
  }

  void AddStage(int stage) {
    const std::vector<double> base = LatestReplica(stage);
    const StageClosing& closing = request_.closings[stage];
    if (request_.factors.empty() && CountRandom(closing) <= 1) {
      AddLanesAtOnce(stage, base);
      return;
    }
    bool alike = true;
    for (const ClosingTask& task : closing.tasks) {
      alike = alike && task.law.size() == 1;
    }
    const int lanes = graph_.grid.lanes;
    // Equal lanes without chance end together; with one random task their
    // latest has the power of its law.
    const bool one_draw = alike && CountRandom(closing) <= 1;
    const bool one_pass = one_draw || (alike && CountRandom(closing) == 0);
    for (int lane = 0; lane < (one_pass ? 1 : lanes) && !Cancelled(); ++lane) {
      AddLane(stage, lane, one_draw ? lanes : 1, base);
    }
  }

  bool Cancelled() const {
    return request_.budget != nullptr && request_.budget->Cancelled();
  }

  static int CountRandom(const StageClosing& closing) {
    return static_cast<int>(std::count_if(
        closing.tasks.begin(), closing.tasks.end(),
        [](const ClosingTask& task) { return !task.is_constant; }));
  }

  // The latest of all lanes, where nothing stretches their tasks and only one
  // of these is random: one draw from the product of the lanes' laws.
  void AddLanesAtOnce(int stage, const std::vector<double>& base) {
    const ClosingTask* random = nullptr;
    std::vector<double> constant(graph_.grid.lanes, 0.0);
    for (const ClosingTask& task : request_.closings[stage].tasks) {
      if (!task.is_constant) {
        random = &task;
        continue;
      }
      for (int lane = 0; lane < graph_.grid.lanes; ++lane) {
        constant[lane] += task.of_lane(lane).At(0);
      }
    }
    std::vector<double> end = base;
    if (random == nullptr) {
      const double longest =
          *std::max_element(constant.begin(), constant.end());
      for (double& seconds : end) seconds += longest;
    } else {
      const auto& value = Tabulate(LatestLane(*random, constant));
      const Hypercube::Coordinate stratum = cube_.Next();
      for (int i = 0; i < n_; ++i) end[i] += value[stratum[i]];
    }
    KeepLatest(stage, end);
  }

  ScoreLaw LatestLane(const ClosingTask& task,
                      const std::vector<double>& constant) {
    if (task.law.size() == 1) {
      const auto [least, most] =
          std::minmax_element(constant.begin(), constant.end());
      return *least == *most ? task.law[0].MaximumOf(OneLane()).ShiftedBy(*most)
                             : task.law[0].MaximumOfShifted(constant);
    }
    std::vector<ScoreLaw> lanes;
    for (size_t lane = 0; lane < constant.size(); ++lane) {
      lanes.push_back(task.law[lane].ShiftedBy(constant[lane]));
    }
    return ScoreLaw::MaximumOfAll(lanes);
  }

  // Scores of one among the lanes.
  const std::vector<double>& OneLane() {
    if (one_lane_.empty()) {
      one_lane_ = ScoresOfOneAmong(static_cast<double>(graph_.grid.lanes));
    }
    return one_lane_;
  }

  // One lane, or one that stands for all where they are alike (`copies`).
  void AddLane(int stage, int lane, int copies,
               const std::vector<double>& base) {
    std::vector<double> end = base;
    for (const ClosingTask& task : request_.closings[stage].tasks) {
      const auto& factor = factor_[static_cast<int>(task.factor_class)];
      if (task.is_constant) {
        const double seconds = task.of_lane(lane).At(0);
        if (seconds == 0) continue;
        for (int i = 0; i < n_; ++i) end[i] += seconds * factor[i];
        continue;
      }
      const auto& value =
          Tabulate(copies == 1 ? task.of_lane(lane)
                               : task.of_lane(lane).MaximumOf(OneLane()));
      const Hypercube::Coordinate stratum = cube_.Next();
      for (int i = 0; i < n_; ++i) end[i] += value[stratum[i]] * factor[i];
    }
    KeepLatest(stage, end);
  }

  void KeepLatest(int stage, const std::vector<double>& end) {
    for (int i = 0; i < n_; ++i) {
      if (end[i] <= step_[i]) continue;
      step_[i] = end[i];
      leading_[i] = stage;
    }
  }

  // The error of a quantile: that of the maxima, for the samples near it, and
  // that of the sample itself.
  IntegratedStep Summary() {
    IntegratedStep integrated;
    StepTime& result = integrated.time;
    const auto moments = stats::SampleMoments(step_);
    result.mean_seconds = moments.mean;
    result.standard_deviation_seconds = moments.standard_deviation;
    std::vector<double> sorted = step_;
    hwy::Sorter()(sorted.data(), sorted.size(), hwy::SortAscending());
    for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
      const double p = kQuantileLevels[q];
      result.quantile_seconds[q] = stats::SortedQuantile(sorted, p);
      const double own = stats::SortedQuantileError(sorted, p);
      const int middle = static_cast<int>(p * (n_ - 1));
      const int reach = std::max(1, n_ / 256);
      const double error =
          ErrorBetween(sorted[std::max(0, middle - reach)],
                       sorted[std::min(n_ - 1, middle + reach)]);
      integrated.replica_error_seconds[q] = error;
      integrated.own_error_seconds[q] = own;
      result.standard_error_seconds[q] = std::sqrt(own * own + error * error);
    }
    return integrated;
  }

  // From the maxima: a quantile moves by what they move the steps near it, from
  // `first` to `last` seconds, on average.
  double ErrorBetween(double first, double last) const {
    std::map<int, EndFit::BatchOffsets> sums;  // by sample
    int count = 0;
    for (int i = 0; i < n_; ++i) {
      if (step_[i] < first || step_[i] > last) continue;
      ++count;
      // The nearer node's.
      const bool next = part_[i] > 0.5;
      const RegimeNode& regime = request_.nodes[node_[i] + (next ? 1 : 0)];
      const MaximumLaw& law = regime.stages[leading_[i]];
      EndFit::BatchOffsets& sum = sums[regime.sample];
      const auto [node, part] = place_[i];
      const auto& offsets = law.offsets[part < 0.5 ? node : node + 1];
      for (size_t b = 0; b < sum.size(); ++b) {
        sum[b] += offsets[b] * factor_[kCompute][i];
      }
    }
    double squares = 0;
    for (const auto& [sample, sum] : sums) {
      squares += std::pow(EndFit::ErrorOf(sum), 2);
    }
    return std::sqrt(squares) / std::max(count, 1);
  }

  const IntegralRequest& request_;
  const StepGraph& graph_;
  const int n_;
  Hypercube cube_;
  std::vector<ScoreLaw::Place> law_place_;  // by stratum
  std::vector<double> value_;               // of a law, by stratum
  std::array<std::vector<double>, kFactorClasses> factor_;
  std::vector<MaximumLaw::Place> place_;  // of the latest replica
  std::vector<int> node_;
  std::vector<double> part_;
  std::vector<double> step_;
  std::vector<double> one_lane_;
  std::vector<int> leading_;  // stage that decides
};

}  // namespace

namespace {

// Nodes that one interval becomes.
constexpr int kRefinement = 4;

// Weights of the values at all nodes in the value at `ratio`, between nodes i
// and i + 1.
std::vector<double> CubicWeights(const std::vector<double>& ratios, size_t i,
                                 double ratio) {
  std::vector<double> weight(ratios.size(), 0.0);
  const double width = ratios[i + 1] - ratios[i];
  const double t = (ratio - ratios[i]) / width;
  weight[i] = (1 + 2 * t) * (1 - t) * (1 - t);
  weight[i + 1] = t * t * (3 - 2 * t);
  // `scale` times the slope at node k of the parabola around node m.
  auto add_slope = [&](size_t k, double scale) {
    const size_t m = std::clamp<size_t>(k, 1, ratios.size() - 2);
    const double a = ratios[m - 1], b = ratios[m], c = ratios[m + 1];
    const double x = ratios[k];
    weight[m - 1] += scale * (2 * x - b - c) / ((a - b) * (a - c));
    weight[m] += scale * (2 * x - a - c) / ((b - a) * (b - c));
    weight[m + 1] += scale * (2 * x - a - b) / ((c - a) * (c - b));
  };
  add_slope(i, width * t * (1 - t) * (1 - t));
  add_slope(i + 1, -width * t * t * (1 - t));
  return weight;
}

// The mean of the nodes' laws by `weight`, but with errors of the nearer one.
MaximumLaw MixLaws(const std::vector<RegimeNode>& nodes, int stage,
                   const std::vector<double>& weight, size_t nearer) {
  MaximumLaw law = nodes[nearer].stages[stage];
  std::fill(law.seconds.begin(), law.seconds.end(), 0.0);
  for (size_t k = 0; k < nodes.size(); ++k) {
    const auto& seconds = nodes[k].stages[stage].seconds;
    for (size_t j = 0; j < seconds.size(); ++j) {
      law.seconds[j] += weight[k] * seconds[j];
    }
  }
  for (size_t j = 1; j < law.seconds.size(); ++j) {
    law.seconds[j] = std::max(law.seconds[j], law.seconds[j - 1]);
  }
  return law;
}

}  // namespace

std::vector<RegimeNode> RefineNodes(const std::vector<RegimeNode>& nodes,
                                    const std::vector<bool>& needed) {
  if (nodes.size() < 3) return nodes;
  std::vector<double> ratios;
  for (const RegimeNode& node : nodes) {
    ratios.push_back(std::exp(node.log_ratio));
  }
  std::vector<RegimeNode> refined;
  for (size_t i = 0; i + 1 < nodes.size(); ++i) {
    refined.push_back(nodes[i]);
    for (int part = 1; part < kRefinement; ++part) {
      const double t = static_cast<double>(part) / kRefinement;
      const double ratio = ratios[i] + t * (ratios[i + 1] - ratios[i]);
      const auto weight = CubicWeights(ratios, i, ratio);
      RegimeNode& node = refined.emplace_back();
      node.log_ratio = std::log(ratio);
      node.stages.resize(needed.size());
      node.sample = nodes[t < 0.5 ? i : i + 1].sample;
      for (size_t stage = 0; stage < needed.size(); ++stage) {
        if (!needed[stage]) continue;
        node.stages[stage] = MixLaws(nodes, static_cast<int>(stage), weight,
                                     t < 0.5 ? i : i + 1);
      }
    }
  }
  refined.push_back(nodes.back());
  return refined;
}

std::vector<ScoreLaw> StepWideFactors(const StepGraph& graph) {
  std::vector<ScoreLaw> laws;
  for (const SharedFactor& shared : graph.shared_factors) {
    if (IsStepWide(shared)) laws.push_back(ScoreLaw::Of(shared.distribution));
  }
  return laws;
}

IntegratedStep IntegrateStep(const IntegralRequest& request) {
  return Integral(request).Run();
}

}  // namespace prism::step
