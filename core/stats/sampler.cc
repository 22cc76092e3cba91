#include "core/stats/sampler.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/stats/normal.h"

namespace prism::stats {
namespace {

// Below this coefficient of variation a law is a point for every purpose.
constexpr double kNegligibleCv = 1e-12;

constexpr int kNodesPerUnit = 16;
constexpr int kLastScore = 9;  // beyond the score of the smallest uniform
constexpr int kNodes = 2 * kLastScore * kNodesPerUnit + 1;

}  // namespace

Sampler::Sampler(const Distribution& distribution)
    : stated_mean_(distribution.StatedMean()) {
  if (distribution.IsConstant()) {
    a_ = distribution.Mean();
    return;
  }
  const Distribution::Kind& kind = distribution.kind();
  if (const auto* normal = std::get_if<Normal>(&kind)) {
    kind_ = Kind::kNormal;
    a_ = normal->mean;
    b_ = normal->sd;
  } else if (const auto* lognormal = std::get_if<Lognormal>(&kind)) {
    kind_ = Kind::kLognormal;
    const double variance = std::log1p(lognormal->cv * lognormal->cv);
    a_ = std::log(lognormal->mean) - variance / 2;
    b_ = std::sqrt(variance);
  } else if (const auto* late = std::get_if<ShiftedExponential>(&kind)) {
    kind_ = Kind::kShiftedExponential;
    a_ = late->shift;
    b_ = late->mean_excess;
  } else if (const auto* gamma = std::get_if<Gamma>(&kind)) {
    if (gamma->cv < kNegligibleCv) {
      a_ = gamma->mean;
      return;
    }
    kind_ = Kind::kLogTable;
    BuildGammaTable(distribution);
  } else if (const auto* empirical = std::get_if<Empirical>(&kind)) {
    kind_ = Kind::kEmpirical;
    samples_ = empirical->sorted_samples;
  } else {
    kind_ = Kind::kMixture;
    double sum = 0;
    for (const auto& component : *std::get<Mixture>(kind).components) {
      cumulative_weight_.push_back(sum += component.weight);
      components_.emplace_back(component.distribution);
    }
    cumulative_weight_.back() = 1;
  }
}

// The logarithm of a gamma's quantile is a smooth function of the normal
// score, also for small shapes, whose quantiles span hundreds of decades. A
// quartic through five nodes is within 1e-7 of it.
void Sampler::BuildGammaTable(const Distribution& distribution) {
  std::vector<double> value(kNodes + 4);
  for (int i = 0; i < static_cast<int>(value.size()); ++i) {
    const double score = (i - 2.0) / kNodesPerUnit - kLastScore;
    value[i] =
        LogGammaQuantileAtScore(std::get<Gamma>(distribution.kind()), score);
  }
  coefficients_.resize(ScoreTable::kCoefficients * size_t{kNodes});
  for (int i = 0; i < kNodes; ++i) {
    const double* v = &value[i + 2];
    const double even2 = v[-2] + v[2], odd2 = v[2] - v[-2];
    const double even1 = v[-1] + v[1], odd1 = v[1] - v[-1];
    const double c[] = {
        (even2 - 4 * even1 + 6 * v[0]) / 24, (odd2 - 2 * odd1) / 12,
        (16 * even1 - even2 - 30 * v[0]) / 24, (8 * odd1 - odd2) / 12, v[0]};
    for (int k = 0; k < ScoreTable::kCoefficients; ++k) {
      coefficients_[k * size_t{kNodes} + i] = c[k];
    }
  }
  table_ = {.first = -static_cast<double>(kLastScore),
            .nodes_per_unit = kNodesPerUnit,
            .nodes = kNodes};
}

void Sampler::Draw(const double* uniform, size_t n, Scratch& scratch,
                   double* out) const {
  switch (kind_) {
    case Kind::kConstant:
      std::fill(out, out + RowSize(n), a_);
      return;
    case Kind::kNormal:
      NormalScores(uniform, n, out);
      return NormalRow(out, n, a_, b_, out);
    case Kind::kLognormal:
      NormalScores(uniform, n, out);
      return LognormalRow(out, n, a_, b_, out);
    case Kind::kShiftedExponential:
      return ShiftedExponentialRow(uniform, n, a_, b_, out);
    case Kind::kLogTable: {
      ScoreTable table = table_;
      table.coefficients = coefficients_.data();
      NormalScores(uniform, n, out);
      return LogTableRow(out, n, table, out);
    }
    case Kind::kEmpirical: {
      const auto& samples = *samples_;
      const double count = static_cast<double>(samples.size());
      for (size_t i = 0; i < n; ++i) {
        out[i] = samples[static_cast<size_t>(uniform[i] * count)];
      }
      return;
    }
    case Kind::kMixture:
      return DrawMixture(uniform, n, scratch, out);
  }
}

// One uniform chooses the component and, stretched, is the component's own
// uniform. Elements are gathered by component, drawn together and put back.
void Sampler::DrawMixture(const double* uniform, size_t n, Scratch& scratch,
                          double* out) const {
  scratch.members.resize(std::max(scratch.members.size(), components_.size()));
  for (auto& members : scratch.members) members.clear();
  const auto& cumulative = cumulative_weight_;
  for (size_t i = 0; i < n; ++i) {
    const size_t c =
        std::upper_bound(cumulative.begin(), cumulative.end() - 1, uniform[i]) -
        cumulative.begin();
    scratch.members[c].push_back(i);
  }
  scratch.uniform.resize(std::max(scratch.uniform.size(), RowSize(n)));
  scratch.drawn.resize(std::max(scratch.drawn.size(), RowSize(n)));
  for (size_t c = 0; c < components_.size(); ++c) {
    const auto& members = scratch.members[c];
    if (members.empty()) continue;
    const double low = c == 0 ? 0 : cumulative[c - 1];
    const double stretch = 1 / (cumulative[c] - low);
    for (size_t i = 0; i < members.size(); ++i) {
      scratch.uniform[i] = std::clamp((uniform[members[i]] - low) * stretch,
                                      0x1p-53, 1 - 0x1p-53);
    }
    for (size_t i = members.size(); i < RowSize(members.size()); ++i) {
      scratch.uniform[i] = 0.5;
    }
    // Mixtures are flat (Distribution::MakeMixture), so this does not recurse
    // into the same scratch.
    components_[c].Draw(scratch.uniform.data(), members.size(), scratch,
                        scratch.drawn.data());
    for (size_t i = 0; i < members.size(); ++i) {
      out[members[i]] = scratch.drawn[i];
    }
  }
}

}  // namespace prism::stats
