#include "core/completion/step_path.h"

#include <algorithm>
#include <cmath>

#include "core/stats/draw_kernels.h"
#include "core/stats/normal.h"

namespace prism::completion {
namespace {

constexpr size_t kStepsAtOnce = 32;
constexpr double kLastScore = 8;
constexpr int kNodesPerUnit = 64;
constexpr int kOrders = 24;  // of Hermite polynomials
constexpr double kMostCorrelation = 0.999;

// The mean of f(z) over a standard normal z.
template <typename Function>
double NormalMean(Function f) {
  const int nodes = 2 * static_cast<int>(kLastScore) * kNodesPerUnit;
  double sum = 0, weight = 0;
  for (int i = 0; i <= nodes; ++i) {
    const double z = static_cast<double>(i) / kNodesPerUnit - kLastScore;
    const double density = stats::NormalDensity(z);
    sum += density * f(z);
    weight += density;
  }
  return sum / weight;
}

// He_n(z) / sqrt(n!): orthonormal under the standard normal.
double Hermite(int order, double z) {
  double before = 0, now = 1;
  for (int n = 0; n < order; ++n) {
    const double next = (z * now - std::sqrt(n) * before) / std::sqrt(n + 1);
    before = now;
    now = next;
  }
  return now;
}

}  // namespace

StepCurve::StepCurve(const StepTimes& step) : target_(step.autocorrelation) {
  for (size_t i = 0; i < step.levels.size(); ++i) {
    scores_.push_back(stats::NormalQuantile(step.levels[i]));
    seconds_.push_back(step.quantile_seconds[i]);
  }
  const bool has_quantiles =
      scores_.size() >= 2 && seconds_.back() > seconds_.front();
  if (!has_quantiles) {
    scores_ = {0, 1};
    seconds_ = {0, 1};
  }
  SpreadTo(step.standard_deviation_seconds, has_quantiles);
  mean_ =
      step.mean_seconds - slope_ * NormalMean([&](double z) { return Raw(z); });
}

// With *b* a score's excess over the last quantile, the variance of
// Raw + x b is a quadratic in x.
void StepCurve::SpreadTo(double deviation, bool has_quantiles) {
  const double mean = NormalMean([&](double z) { return Raw(z); });
  const double mean_beyond = NormalMean([&](double z) { return Beyond(z); });
  const double variance =
      NormalMean([&](double z) { return (Raw(z) - mean) * (Raw(z) - mean); });
  const double missing = deviation * deviation - variance;
  if (missing <= 0 || !has_quantiles) {
    slope_ = deviation / std::sqrt(variance);
    return;
  }
  const double both =
      NormalMean([&](double z) { return (Raw(z) - mean) * Beyond(z); });
  const double square = NormalMean([&](double z) {
    return (Beyond(z) - mean_beyond) * (Beyond(z) - mean_beyond);
  });
  beyond_ = missing / (both + std::sqrt(both * both + square * missing));
}

double StepCurve::Beyond(double score) const {
  return std::max(0.0, score - scores_.back());
}

double StepCurve::Raw(double score) const {
  const size_t above =
      std::upper_bound(scores_.begin() + 1, scores_.end() - 1, score) -
      scores_.begin();
  const double part =
      (score - scores_[above - 1]) / (scores_[above] - scores_[above - 1]);
  return seconds_[above - 1] + part * (seconds_[above] - seconds_[above - 1]) +
         beyond_ * Beyond(score);
}

double StepCurve::operator()(double score) const {
  return std::max(0.0, mean_ + slope_ * Raw(score));
}

// Correlation of times = sum over n of c_n r^n, c_n the share of the variance
// in the n-th Hermite polynomial (Mehler's formula).
double StepCurve::ScoreCorrelation() const {
  double share[kOrders + 1] = {}, sum = 0;
  for (int n = 1; n <= kOrders; ++n) {
    const double c =
        NormalMean([&](double z) { return Raw(z) * Hermite(n, z); });
    sum += share[n] = c * c;
  }
  double low = -kMostCorrelation, high = kMostCorrelation;
  for (int i = 0; i < 50; ++i) {
    const double r = (low + high) / 2;
    double correlation = 0;
    for (int n = kOrders; n >= 1; --n) {
      correlation = (correlation + share[n] / sum) * r;
    }
    (correlation < target_ ? low : high) = r;
  }
  return target_ == 0 ? 0 : low;
}

StepPath::StepPath(const RunPlan& plan, const Course& course)
    : course_(course),
      curve_(plan.step),
      correlation_(curve_.ScoreCorrelation()),
      evaluate_every_(plan.evaluations.every_steps),
      slow_extra_(plan.evaluations.after.factor - 1),
      evaluation_(plan.evaluations.seconds) {}

// Rows of draws for the steps from `first` on. Steps are told apart by how
// many are left, which is small.
void StepPath::Draw(const AttemptAddress& address, int64_t first,
                    Scratch& scratch) const {
  scratch.step.resize(kStepsAtOnce);
  scratch.score.resize(kStepsAtOnce);
  scratch.uniform.resize(kStepsAtOnce);
  scratch.evaluation.resize(kStepsAtOnce);
  scratch.pair.assign(kStepsAtOnce, address.pair);
  for (size_t i = 0; i < kStepsAtOnce; ++i) {
    scratch.step[i] = static_cast<uint64_t>(
        std::max<int64_t>(0, course_.steps() - first - int64_t(i)));
  }
  stats::UniformRows({address.key, address.attempt, address.operation,
                      scratch.step.data(), scratch.pair.data()},
                     kStepsAtOnce, scratch.score.data(),
                     scratch.uniform.data());
  if (address.mirrored) {
    for (double& u : scratch.score) u = 1 - u;
    for (double& u : scratch.uniform) u = 1 - u;
  }
  stats::NormalScores(scratch.score.data(), kStepsAtOnce, scratch.score.data());
  evaluation_.Draw(scratch.uniform.data(), kStepsAtOnce, scratch.draw,
                   scratch.evaluation.data());
}

Reached StepPath::Run(const AttemptAddress& address, int64_t from, bool fresh,
                      double factor, double seconds, bool save_all,
                      Scratch& scratch) const {
  const double fresh_innovation = std::sqrt(1 - correlation_ * correlation_);
  Reached reached = {.saved = from};
  double now = 0, writing = 0, slow_start = 0, score = 0;
  for (int64_t k = from + 1; k <= course_.steps(); ++k) {
    const size_t i = static_cast<size_t>(k - from - 1) % kStepsAtOnce;
    if (i == 0) Draw(address, k, scratch);
    score = k == from + 1
                ? scratch.score[i]
                : correlation_ * score + fresh_innovation * scratch.score[i];
    const double step = factor * curve_(score);
    double slow = 0;
    if (fresh && k - from <= course_.slow_start_steps()) {
      slow = step * course_.slow_start_extra();
    }
    now += step + slow;
    slow_start += slow;
    if (course_.SlowSteps(k - 1, k) > 0) now += step * slow_extra_;
    if (evaluate_every_ > 0 && k % evaluate_every_ == 0) {
      now += scratch.evaluation[i];
    }
    const bool written = course_.Writes(k - 1, k) > 0;
    if (written) {
      now += course_.blocking_seconds();
      writing += course_.blocking_seconds();
    }
    const bool last = k == course_.steps();
    const double counts_at = now + (written ? course_.settling_seconds() : 0);
    if (now > seconds) break;
    if (last ? counts_at <= seconds
             : save_all || (written && counts_at <= seconds)) {
      reached = {last, k, last ? counts_at : now, writing, slow_start};
    }
    if (last && reached.finished) {
      reached.writing_seconds += course_.settling_seconds();
    }
  }
  return reached;
}

}  // namespace prism::completion
