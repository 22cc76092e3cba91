#include "core/step/composition/operation_law.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/stats/normal.h"

namespace prism::step {
namespace {

using stats::Distribution;

// Beyond these a sum of parts is not close enough to normal for three terms of
// its cumulants.
constexpr double kLightSkewness = 0.5;
constexpr double kLightKurtosis = 1.0;
// More draws of one heavy part in one operation than this are left to the
// reference method.
constexpr int64_t kMostHeavyDraws = 16;
// A polynomial follows a law that it meets within this share of a deviation at
// every score up to 4 of either sign.
constexpr double kFitError = 0.01;

bool IsLight(const Cumulants& c) {
  if (c[1] <= 0) return true;
  const double sd = std::sqrt(c[1]);
  return std::abs(c[2]) < kLightSkewness * c[1] * sd &&
         std::abs(c[3]) < kLightKurtosis * c[1] * c[1];
}

// Independent copies of one part of an operation.
struct Part {
  ScoreLaw law;
  Cumulants cumulants = {};
  double compute_mean = 0;
  double network_variance = 0;
  int64_t copies = 1;
  ScoreLaw lane;     // of one lane, where the part is a maximum over lanes
  double share = 0;  // of the lane's mean that is compute
};

// Draws that one lane adds to its clock before the lanes meet.
struct LaneSum {
  Cumulants compute = {};
  Cumulants network = {};
  int random_draws = 0;
  ScoreLaw single;  // law of the random draw, while there is one
  std::vector<RareStall> stalls;

  bool empty() const { return compute[0] == 0 && network[0] == 0; }
};

class Reducer {
 public:
  Reducer(const StepGraph& graph, const OperationSetting& setting,
          LawTable& cache)
      : graph_(graph),
        setting_(setting),
        cache_(cache),
        lanes_(static_cast<size_t>(graph.grid.lanes)) {}

  std::optional<OperationLaw> Reduce(const Program& program) {
    for (const Segment& segment : program.segments) {
      if (!AddSegment(segment)) return std::nullopt;
    }
    if (pending_.empty()) return Sum();
    const double apart = pending_.compute[0] + pending_.network[0];
    if (!CloseLanes()) return std::nullopt;
    auto law = Sum();
    if (law.has_value()) {
      law->lane_slack = parts_.back().cumulants[0] - apart;
    }
    return law;
  }

 private:
  // The first pass joins what was pending before; where lanes meet, all later
  // passes are alike.
  bool AddSegment(const Segment& segment) {
    const bool meets =
        std::any_of(segment.tasks.begin(), segment.tasks.end(),
                    [](const Task& task) { return task.group != kNoGroup; });
    if (!meets) {
      for (const Task& task : segment.tasks) AddOwn(task, segment.count);
      return true;
    }
    if (!AddPass(segment)) return false;
    if (segment.count == 1) return true;
    const size_t first = parts_.size(), first_stall = stalls_.size();
    if (!AddPass(segment)) return false;
    for (size_t i = first; i < parts_.size(); ++i) {
      parts_[i].copies = segment.count - 1;
    }
    for (size_t i = first_stall; i < stalls_.size(); ++i) {
      stalls_[i].probability *= static_cast<double>(segment.count - 1);
    }
    return true;
  }

  bool AddPass(const Segment& segment) {
    for (const Task& task : segment.tasks) {
      if (task.group == kNoGroup) {
        AddOwn(task, 1);
        continue;
      }
      const Group& group = graph_.groups[task.group];
      if (group.lane_count != graph_.grid.lanes || group.spans_replicas() ||
          !CloseLanes()) {
        return false;
      }
      AddShared(task);
    }
    return true;
  }

  double FactorOf(const Task& task) const {
    return task.factor_class == FactorClass::kNetwork ? setting_.network_factor
                                                      : setting_.compute_factor;
  }

  void AddOwn(const Task& task, int64_t count) {
    const LawTable::Entry& entry =
        cache_.Get(task.distribution, setting_.rare_weight);
    const Distribution& d = entry.common;
    if (d.IsConstant() && d.Mean() == 0 && entry.rare.empty()) return;
    const double factor = FactorOf(task);
    const Cumulants c = ScaledCumulants(entry.cumulants, factor);
    if (lanes_ == 1 &&
        !IsLight(RepeatedCumulants(c, static_cast<double>(count)))) {
      AddAlone(task, entry, count);
      return;
    }
    Cumulants& sum = task.factor_class == FactorClass::kNetwork
                         ? pending_.network
                         : pending_.compute;
    sum = sum + RepeatedCumulants(c, static_cast<double>(count));
    if (!d.IsConstant()) {
      pending_.random_draws += static_cast<int>(std::min<int64_t>(count, 99));
      pending_.single = entry.law.ScaledBy(factor);
    }
    for (const auto& [weight, stall] : entry.rare) {
      pending_.stalls.push_back(
          {weight * static_cast<double>(count * graph_.grid.lanes),
           ScoreLaw::Of(stall).ScaledBy(factor), c[0]});
    }
  }

  // Heavy draws of an only lane. It meets nobody, so they can stay apart from
  // what else it does.
  void AddAlone(const Task& task, const LawTable::Entry& entry, int64_t count) {
    const double factor = FactorOf(task);
    Part part = PartOf(task, entry);
    part.copies = count;
    part.lane = part.law;
    part.share = task.factor_class == FactorClass::kNetwork ? 0 : 1;
    for (const auto& [weight, stall] : entry.rare) {
      stalls_.push_back({weight * static_cast<double>(count),
                         ScoreLaw::Of(stall).ScaledBy(factor),
                         part.cumulants[0]});
    }
    parts_.push_back(std::move(part));
  }

  // One draw.
  Part PartOf(const Task& task, const LawTable::Entry& entry) const {
    const double factor = FactorOf(task);
    Part part;
    part.law = entry.law.ScaledBy(factor);
    part.cumulants = ScaledCumulants(entry.cumulants, factor);
    if (task.factor_class == FactorClass::kNetwork) {
      part.network_variance = part.cumulants[1];
    } else {
      part.compute_mean = part.cumulants[0];
    }
    return part;
  }

  // All lanes meet: the maximum over the lanes of what each has pending.
  bool CloseLanes() {
    const LaneSum lane = std::move(pending_);
    pending_ = {};
    if (lane.empty()) return true;
    const Cumulants total = lane.compute + lane.network;
    const double mean = total[0];
    Part part;
    if (lane.random_draws == 1) {
      part.law = ShiftToMean(lane.single, mean);
    } else {
      if (lanes_ > 1 && !IsLight(total)) return false;
      part.law = ScoreLaw::FromCumulants(total);
    }
    // Lane factors touch compute alone; of a sum with network draws they act
    // on its compute share.
    part.share = mean > 0 ? lane.compute[0] / mean : 0;
    part.lane = part.law;
    if (lanes_ == 1) {
      part.cumulants = total;
    } else {
      part.law = part.law.MaximumOf(cache_.ScoresOfOneLane());
      part.cumulants = part.law.ComputeCumulants();
    }
    // What the latest lane spent on the network: its mean plus its share of
    // the surplus of the maximum.
    const double network_part = total[1] > 0 ? lane.network[1] / total[1] : 0;
    part.compute_mean = part.cumulants[0] - lane.network[0] -
                        network_part * (part.cumulants[0] - mean);
    part.network_variance = network_part * part.cumulants[1];
    for (RareStall stall : lane.stalls) {
      stall.typical += part.cumulants[0] - mean;
      stalls_.push_back(std::move(stall));
    }
    parts_.push_back(std::move(part));
    return true;
  }

  static ScoreLaw ShiftToMean(const ScoreLaw& law, double mean) {
    return law.ShiftedBy(mean - law.ComputeCumulants()[0]);
  }

  // One draw that all lanes share.
  void AddShared(const Task& task) {
    const LawTable::Entry& entry =
        cache_.Get(task.distribution, setting_.rare_weight);
    const double factor = FactorOf(task);
    Part part = PartOf(task, entry);
    for (const auto& [weight, stall] : entry.rare) {
      stalls_.push_back(
          {weight, ScoreLaw::Of(stall).ScaledBy(factor), part.cumulants[0]});
    }
    if (part.cumulants[0] > 0) parts_.push_back(std::move(part));
  }

  std::optional<OperationLaw> Sum() {
    OperationLaw law;
    Cumulants total = {};
    const Part* only = nullptr;
    int64_t random_parts = 0;
    double network_variance = 0;
    for (const Part& part : parts_) {
      const double copies = static_cast<double>(part.copies);
      total = total + RepeatedCumulants(part.cumulants, copies);
      law.compute_mean += part.compute_mean * copies;
      network_variance += part.network_variance * copies;
      if (part.share > 0) {
        law.lane_parts.push_back({part.lane, part.share, copies});
      }
      if (part.cumulants[1] <= 0) continue;
      random_parts += part.copies;
      only = &part;
    }
    law.mean = total[0];
    law.variance = total[1];
    if (law.variance > 0) law.network_share = network_variance / law.variance;
    law.stalls = stalls_;
    if (random_parts == 1) {
      law.draws.push_back(MakeDraw(only->law, only->cumulants[0],
                                   std::sqrt(only->cumulants[1])));
      return law;
    }
    if (!AddDraws(IsLight(total), law)) return std::nullopt;
    return law;
  }

  // One draw for what is light together; where the whole is not, a draw for
  // each part that is heavy by itself.
  bool AddDraws(bool together, OperationLaw& law) const {
    Cumulants light = {};
    int64_t heavy_draws = 0;
    for (const Part& part : parts_) {
      const Cumulants all =
          RepeatedCumulants(part.cumulants, static_cast<double>(part.copies));
      if (together || IsLight(all)) {
        light = light + all;
        continue;
      }
      heavy_draws += part.copies;
      if (heavy_draws > kMostHeavyDraws) return false;
      const ScoreDraw draw =
          MakeDraw(part.law, part.cumulants[0], std::sqrt(part.cumulants[1]));
      law.draws.insert(law.draws.end(), part.copies, draw);
    }
    if (light[1] > 0) {
      light[0] = 0;
      law.draws.push_back(
          MakeDraw(ScoreLaw::FromCumulants(light), 0, std::sqrt(light[1])));
    }
    return true;
  }

  const StepGraph& graph_;
  const OperationSetting& setting_;
  LawTable& cache_;
  const size_t lanes_;
  LaneSum pending_;
  std::vector<Part> parts_;
  std::vector<RareStall> stalls_;
};

// Scores within which a polynomial is fitted.
constexpr double kFitEnd = 5.5;

constexpr int kMostTerms = kPolynomialTerms;
// Nodes of a law within kFitEnd.
constexpr int kFirstFit =
    static_cast<int>((ScoreLaw::kEnd - kFitEnd) / ScoreLaw::kStep);
constexpr int kFitNodes = ScoreLaw::kNodes - 2 * kFirstFit;

// The coefficients of a weighted least-squares polynomial, lowest power first,
// as weights of what it is fitted to: the normal equations solved once.
struct FitMatrix {
  std::array<std::array<double, kFitNodes>, kMostTerms> weight;
};

FitMatrix MakeFitMatrix(int terms) {
  double a[kMostTerms][kMostTerms] = {};
  FitMatrix right = {};
  for (int i = 0; i < kFitNodes; ++i) {
    const double z = ScoreLaw::NodeScore(kFirstFit + i);
    // Flatter than the density, so that the tails are fitted as well. Powers
    // in units of the end, so that the equations are well conditioned.
    double powers[2 * kMostTerms - 1];
    powers[0] = std::exp(-z * z / 4);
    for (int k = 1; k < 2 * terms - 1; ++k) {
      powers[k] = powers[k - 1] * z / kFitEnd;
    }
    for (int row = 0; row < terms; ++row) {
      for (int column = 0; column < terms; ++column) {
        a[row][column] += powers[row + column];
      }
      right.weight[row][i] = powers[row];
    }
  }
  for (int pivot = 0; pivot < terms; ++pivot) {
    for (int row = 0; row < terms; ++row) {
      if (row == pivot) continue;
      const double ratio = a[row][pivot] / a[pivot][pivot];
      for (int k = pivot; k < terms; ++k) a[row][k] -= ratio * a[pivot][k];
      for (int i = 0; i < kFitNodes; ++i) {
        right.weight[row][i] -= ratio * right.weight[pivot][i];
      }
    }
  }
  for (int row = 0; row < terms; ++row) {
    const double scale = a[row][row] * std::pow(kFitEnd, row);
    for (double& w : right.weight[row]) w /= scale;
  }
  return right;
}

const FitMatrix& FitMatrixOf(size_t terms) {
  static const FitMatrix short_one = MakeFitMatrix(kShortTerms);
  static const FitMatrix long_one = MakeFitMatrix(kPolynomialTerms);
  return terms == kShortTerms ? short_one : long_one;
}

ScorePolynomial FitPolynomial(const ScoreLaw& law, double mean, size_t terms) {
  const FitMatrix& matrix = FitMatrixOf(terms);
  double sum[kMostTerms] = {};
  for (int i = 0; i < kFitNodes; ++i) {
    const double y = law.At(ScoreLaw::NodeScore(kFirstFit + i)) - mean;
    for (size_t k = 0; k < terms; ++k) sum[k] += matrix.weight[k][i] * y;
  }
  ScorePolynomial polynomial = {};
  for (size_t k = 0; k < terms; ++k) {
    polynomial[kPolynomialTerms - 1 - k] = static_cast<float>(sum[k]);
  }
  return polynomial;
}

double Evaluate(const ScorePolynomial& polynomial, double z) {
  double sum = 0;
  for (float c : polynomial) sum = sum * z + c;
  return sum;
}

double Evaluate(const ScoreDraw& draw, double z) {
  if (draw.is_polynomial) return Evaluate(draw.polynomial, z);
  const double position =
      std::clamp((z + kTableEnd) * kTableNodes / (2 * kTableEnd), 0.0,
                 kTableNodes - 0.001);
  const int node = static_cast<int>(position);
  const double part = position - node;
  return draw.table[node] + part * (draw.table[node + 1] - draw.table[node]);
}

// A step adds hundreds of draws, so their mean and variance must be right to
// the last digit: takes out what the fit or the table got wrong.
void Standardise(ScoreDraw& draw, double spread) {
  double weights = 0, sum = 0, squares = 0;
  // A table has corners, a polynomial has none.
  const double step = draw.is_polynomial ? 1.0 / 4 : 1.0 / 64;
  for (double z = -7; z <= 7; z += step) {
    const double weight = stats::NormalDensity(z);
    const double x = Evaluate(draw, z);
    weights += weight;
    sum += weight * x;
    squares += weight * x * x;
  }
  const double mean = sum / weights;
  const double variance = squares / weights - mean * mean;
  const double scale = variance > 0 ? spread / std::sqrt(variance) : 1;
  if (draw.is_polynomial) {
    draw.polynomial.back() -= static_cast<float>(mean);
    for (float& c : draw.polynomial) c *= static_cast<float>(scale);
  } else {
    for (float& x : draw.table) {
      x = static_cast<float>((x - mean) * scale);
    }
  }
}

}  // namespace

std::optional<OperationLaw> ReduceOperation(const StepGraph& graph,
                                            const Program& program,
                                            const OperationSetting& setting,
                                            LawTable& cache) {
  return Reducer(graph, setting, cache).Reduce(program);
}

const LawTable::Entry& LawTable::Get(int distribution, double rare_weight) {
  const auto [at, is_new] = entries_.try_emplace(distribution);
  Entry& entry = at->second;
  if (!is_new) return entry;
  entry.common =
      SplitRare(graph_.distributions[distribution], rare_weight, &entry.rare);
  entry.law = ScoreLaw::Of(entry.common);
  entry.cumulants = entry.law.ComputeCumulants();
  // Two of them are known exactly.
  entry.cumulants[0] = entry.common.Mean();
  entry.cumulants[1] = entry.common.Variance();
  return entry;
}

const std::vector<double>& LawTable::ScoresOfOneLane() {
  if (one_lane_.empty()) {
    one_lane_ = ScoresOfOneAmong(static_cast<double>(graph_.grid.lanes));
  }
  return one_lane_;
}

ScoreDraw MakeDraw(const ScoreLaw& law, double mean, double spread) {
  ScoreDraw draw;
  draw.is_polynomial = false;
  for (const size_t terms : {kShortTerms, kPolynomialTerms}) {
    draw.polynomial = FitPolynomial(law, mean, terms);
    double worst = 0;
    for (double z = -4; z <= 4; z += 0.25) {
      worst = std::max(
          worst, std::abs(law.At(z) - mean - Evaluate(draw.polynomial, z)));
    }
    draw.is_polynomial = worst <= kFitError * spread;
    if (draw.is_polynomial) break;
  }
  if (!draw.is_polynomial) {
    draw.table.resize(kTableNodes + 1);
    for (int i = 0; i <= kTableNodes; ++i) {
      const double z = 2 * kTableEnd * i / kTableNodes - kTableEnd;
      draw.table[i] = static_cast<float>(law.At(z) - mean);
    }
  }
  Standardise(draw, spread);
  return draw;
}

Distribution SplitRare(const Distribution& distribution, double rare_weight,
                       std::vector<stats::MixtureComponent>* rare) {
  const auto* mixture = std::get_if<stats::Mixture>(&distribution.kind());
  if (mixture == nullptr) return distribution;
  std::vector<stats::MixtureComponent> common;
  double common_mean = 0, common_weight = 0;
  for (const auto& component : *mixture->components) {
    if (component.weight < rare_weight) continue;
    common.push_back(component);
    common_mean += component.weight * component.distribution.Mean();
    common_weight += component.weight;
  }
  if (common.empty()) return distribution;
  common_mean /= common_weight;
  for (const auto& component : *mixture->components) {
    if (component.weight >= rare_weight) continue;
    // A rare component that is no longer than the rest is no stall.
    if (component.distribution.Mean() > common_mean) {
      rare->push_back(component);
    } else {
      common.push_back(component);
    }
  }
  return Distribution::MakeMixture(std::move(common));
}

}  // namespace prism::step
