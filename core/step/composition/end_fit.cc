#include "core/step/composition/end_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/stats/normal.h"
#include "core/stats/sample_quantiles.h"
#include "core/step/composition/pipeline_kernels.h"

namespace prism::step {
namespace {

constexpr int kNodes = ScoreShape::kNodes;
constexpr int kMiddle = kNodes / 2;

// A quantile with so many samples beyond it is known well enough to correct a
// shape by, and one with so many to doubt it.
constexpr double kDenseSamples = 64;
constexpr double kFewestSamples = 8;
// What the sample misses the shape by is followed the more surely the more it
// exceeds this many standard errors; below, it is taken for chance.
constexpr double kChanceErrors = 2.5;
// A shape that is missed by more than this many is wrong.
constexpr double kWrongErrors = 4.5;

// Skewness and kurtosis are taken for chance up to so many of their errors.
// Sums of many draws have a skewness, and hardly more kurtosis than goes with
// it.
constexpr double kChanceOfSkewness = 1;
constexpr double kChanceOfKurtosis = 2.5;
// The error of the kurtosis that this leaves, as a share of its own: a tenth
// where it is the lognormal's, more where it is another within its error.
constexpr double kKeptOfKurtosis = 0.35;
// A law with less than this has no skewness.
constexpr double kNoSkewness = 1e-3;

// Samples whose sums single precision holds.
constexpr size_t kPowerBlock = 64 * kPowerLanes;

// Probability of each node's score, up to that of the middle one.
std::array<double, kMiddle + 1> MakeProbabilities() {
  std::array<double, kMiddle + 1> p;
  for (int i = 0; i <= kMiddle; ++i) {
    p[i] = stats::NormalCdf(ScoreShape::NodeScore(i));
  }
  return p;
}

const std::array<double, kMiddle + 1>& Probabilities() {
  static const std::array<double, kMiddle + 1> probabilities =
      MakeProbabilities();
  return probabilities;
}

double FourthPower(double x) { return x * x * x * x; }

// Quantiles of standardised values, from counts in bins much narrower than
// their errors: a fraction of the time that sorting takes.
class BinnedSample {
 public:
  BinnedSample(std::span<const float> values, double mean, double deviation)
      : below_(kBins + 1, 0), n_(static_cast<double>(values.size())) {
    const auto origin = static_cast<float>(mean);
    const auto scale = static_cast<float>(kBinsPerUnit / deviation);
    const auto middle = static_cast<float>(kBins / 2);
    const auto last = static_cast<float>(kBins - 1);
    for (const float x : values) {
      const float bin = (x - origin) * scale + middle;
      ++below_[1 + static_cast<size_t>(std::clamp(bin, 0.0f, last))];
    }
    std::partial_sum(below_.begin(), below_.end(), below_.begin());
  }

  double Quantile(double p) const {
    const double rank = std::clamp(p, 0.0, 1.0) * n_;
    const auto next = std::lower_bound(below_.begin() + 1, below_.end() - 1,
                                       rank, [](uint32_t below, double r) {
                                         return static_cast<double>(below) < r;
                                       });
    const double low = *(next - 1);
    const double width = static_cast<double>(*next) - low;
    const double part = width > 0 ? (rank - low) / width : 0;
    const auto bin = static_cast<double>(next - below_.begin() - 1);
    return (bin + part - kBins / 2) / kBinsPerUnit;
  }

 private:
  static constexpr int kBins = 4096;
  static constexpr double kBinsPerUnit = 256;
  std::vector<uint32_t> below_;  // by bin, values below it
  double n_;
};

}  // namespace

EndFit::EndFit(std::span<const float> ends, const EndControl* control,
               const EndControl::Curvature* curvature) {
  TakeMoments(ends, control, curvature);
  if (deviation_ <= 0) return;
  TakeErrors();
  skew_ = Shrunk(&Batch::cube, 0, kChanceOfSkewness);
  const double own = ScoreShape::LognormalKurtosis(skew_);
  const double rest = Shrunk(&Batch::fourth, 3 + own, kChanceOfKurtosis);
  lognormal_ = ScoreShape(skew_, own);
  shape_ = rest == 0 ? lognormal_ : ScoreShape(skew_, own + rest);
  FollowSample(ends);
}

struct EndFit::PowerSums {
  explicit PowerSums(std::span<const float> ends);

  // Takes out what `control` explains.
  void Correct(std::span<const float> ends, const EndControl& control,
               const EndControl::Curvature* curvature);

  // Takes `coefficient` (c^2 - 1) y, less its expectation, out of the cubes.
  // `squared` holds its sums by batch, `products` the sums over all ends of
  // products of the cubes with the terms.
  void CorrectCube(const EndControl& control,
                   const EndControl::Curvature& curvature, double coefficient,
                   std::span<const double> squared,
                   EndControl::Terms& products);

  // Replicas b, b + 16, ... and their mirror images.
  double SamplesOf(int b) const {
    return 2 * std::floor((n / 2 + kBatches - 1 - b) / kBatches);
  }

  // Of all batches.
  std::array<double, kPowers> Total() const;
  stats::Moments Moments() const;

  double n = 0;
  float origin = 0, scale = 1;
  double of[kBatches][kPowers] = {};

 private:
  // Calls add(x, first, count) with all ends, in runs that single precision
  // can sum; x of the last is padded with the origin.
  template <class Add>
  void ForRuns(std::span<const float> ends, const Add& add) const;
};

template <class Add>
void EndFit::PowerSums::ForRuns(std::span<const float> ends,
                                const Add& add) const {
  const size_t whole = ends.size() / kPowerLanes * kPowerLanes;
  for (size_t i = 0; i < whole; i += kPowerBlock) {
    add(&ends[i], i, std::min(kPowerBlock, whole - i));
  }
  if (whole == ends.size()) return;
  float rest[kPowerLanes];
  for (size_t i = 0; i < kPowerLanes; ++i) rest[i] = origin;
  std::copy(ends.begin() + whole, ends.end(), rest);
  add(rest, whole, kPowerLanes);
}

EndFit::PowerSums::PowerSums(std::span<const float> ends)
    : n(static_cast<double>(ends.size())) {
  const size_t first = std::min<size_t>(ends.size(), 64);
  const std::vector<double> some(ends.begin(), ends.begin() + first);
  const stats::Moments rough = stats::SampleMoments(some);
  origin = static_cast<float>(rough.mean);
  scale = static_cast<float>(
      rough.standard_deviation > 0 ? 1 / rough.standard_deviation : 1);
  double sums[kPowers * kPowerLanes] = {};
  ForRuns(ends, [&](const float* x, size_t, size_t count) {
    AddPowers(x, count, origin, scale, sums);
  });
  for (int b = 0; b < kBatches; ++b) {
    for (size_t p = 0; p < kPowers; ++p) {
      of[b][p] =
          sums[p * kPowerLanes + 2 * b] + sums[p * kPowerLanes + 2 * b + 1];
    }
  }
}

void EndFit::PowerSums::Correct(std::span<const float> ends,
                                const EndControl& control,
                                const EndControl::Curvature* curvature) {
  EndControl::Terms products[kPowers] = {};
  double squared[kBatches] = {};  // sums of (c^2 - 1) y
  for (int t = 0; t < EndControl::kTerms; ++t) {
    double sums[kPowers * kPowerLanes] = {};
    ForRuns(ends, [&](const float* x, size_t first, size_t count) {
      AddTermPowers(x, &control.term(t)[first], count, origin, scale, sums);
    });
    for (size_t i = 0; i < kPowers * kPowerLanes; ++i) {
      products[i / kPowerLanes][t] += sums[i];
      if (t == 0 && i < kPowerLanes) squared[i / 2] += sums[i];
    }
  }
  const auto total = Total();
  if (curvature != nullptr) {
    const double square = control.Regress(total[1], products[1])[0];
    CorrectCube(control, *curvature, 3 * square, squared, products[2]);
  }
  for (size_t p = 0; p < kPowers; ++p) {
    const auto coefficient = control.Regress(total[p], products[p]);
    for (int b = 0; b < kBatches; ++b) {
      for (int t = 0; t < EndControl::kTerms; ++t) {
        of[b][p] -= coefficient[t] * control.SumOf(b)[t];
      }
    }
  }
}

// With L the part of the end that goes with the control c and R the rest, the
// third moment is 3 E[L^2 R] for the most part, so `coefficient` / 3 is
// L^2 / c^2. What it takes from the cubes is no longer in their products with
// the terms: an end that bends with h = c^2 - 1 has
// E[h^2 h] = 8 and E[h^2 (c^4 - 6 c^2 + 3)] = 24 times that.
void EndFit::PowerSums::CorrectCube(const EndControl& control,
                                    const EndControl::Curvature& curvature,
                                    double coefficient,
                                    std::span<const double> squared,
                                    EndControl::Terms& products) {
  const double mean = Total()[0] / n;
  double bend = 0;
  for (int b = 0; b < kBatches; ++b) {
    const double expected = SamplesOf(b) * curvature[b] * double{scale};
    bend += expected / 2;
    of[b][2] -=
        coefficient * (squared[b] - mean * control.SumOf(b)[0] - expected);
  }
  products[0] -= coefficient * 8 * bend;
  products[1] -= coefficient * 24 * bend;
}

std::array<double, kPowers> EndFit::PowerSums::Total() const {
  std::array<double, kPowers> total = {};
  for (const auto& batch : of) {
    for (size_t p = 0; p < kPowers; ++p) total[p] += batch[p];
  }
  return total;
}

// Around the origin, in units of 1 / scale.
stats::Moments EndFit::PowerSums::Moments() const {
  const auto total = Total();
  const double mean = total[0] / n;
  const double variance = std::max(0.0, (total[1] - mean * total[0]) / (n - 1));
  return {mean, std::sqrt(variance)};
}

void EndFit::TakeMoments(std::span<const float> ends, const EndControl* control,
                         const EndControl::Curvature* curvature) {
  PowerSums sums(ends);
  const double unit = double{sums.scale};
  auto take = [&](double& mean, double& deviation) {
    const stats::Moments moments = sums.Moments();
    mean = double{sums.origin} + moments.mean / unit;
    deviation = moments.standard_deviation / unit;
    return moments;
  };
  take(sample_mean_, sample_deviation_);
  if (control != nullptr && sample_deviation_ > 0) {
    sums.Correct(ends, *control, curvature);
  }
  const auto [m, sd] = take(mean_, deviation_);
  if (deviation_ <= 0) return;
  const double variance = sd * sd;
  for (int b = 0; b < kBatches; ++b) {
    const double samples = std::max(sums.SamplesOf(b), 1.0);
    const double a1 = sums.of[b][0] / samples, a2 = sums.of[b][1] / samples;
    const double a3 = sums.of[b][2] / samples, a4 = sums.of[b][3] / samples;
    batches_[b].mean = (a1 - m) / sd;
    batches_[b].deviation =
        std::sqrt(std::max(0.0, a2 - 2 * m * a1 + m * m)) / sd;
    batches_[b].cube =
        (a3 - 3 * m * a2 + 3 * m * m * a1 - m * m * m) / (sd * variance);
    batches_[b].fourth = (a4 - 4 * m * a3 + 6 * m * m * a2 -
                          4 * m * m * m * a1 + FourthPower(m)) /
                         (variance * variance);
  }
}

void EndFit::TakeErrors() {
  std::array<double, kTerms> mean = {};
  for (int b = 0; b < kBatches; ++b) {
    const Batch& batch = batches_[b];
    const double square = batch.deviation * batch.deviation;
    // A third moment of 3 y belongs to the mean, not to the skewness, and a
    // fourth of 6 y^2 to the deviation.
    coefficient_[b] = {batch.mean, batch.deviation,
                       (batch.cube - 3 * batch.mean) / 6,
                       kKeptOfKurtosis * (batch.fourth - 6 * square) / 24};
    for (int i = 0; i < kTerms; ++i) mean[i] += coefficient_[b][i] / kBatches;
  }
  for (auto& coefficient : coefficient_) {
    for (int i = 0; i < kTerms; ++i) coefficient[i] -= mean[i];
  }
}

EndFit::BatchOffsets EndFit::OffsetsAt(double z) const {
  const double hermite[] = {1, z, z * z - 1, z * z * z - 3 * z};
  BatchOffsets offsets = {};
  for (int b = 0; b < kBatches; ++b) {
    for (int i = 0; i < kTerms; ++i) {
      offsets[b] += deviation_ * coefficient_[b][i] * hermite[i];
    }
  }
  return offsets;
}

double EndFit::ErrorOf(const BatchOffsets& offsets) {
  double squares = 0;
  for (const double offset : offsets) squares += offset * offset;
  return std::sqrt(squares / (kBatches * (kBatches - 1)));
}

// A moment less `origin`, over the batches.
EndFit::Estimate EndFit::OverBatches(double Batch::*moment,
                                     double origin) const {
  double mean = 0, squares = 0;
  for (const Batch& batch : batches_) {
    mean += (batch.*moment - origin) / kBatches;
  }
  for (const Batch& batch : batches_) {
    const double off = batch.*moment - origin - mean;
    squares += off * off;
  }
  return {mean, squares / (kBatches * (kBatches - 1))};
}

// The same less what `errors` of its own may be of it: 0 up to there, and
// hardly less far beyond.
double EndFit::Shrunk(double Batch::*moment, double origin,
                      double errors) const {
  const Estimate e = OverBatches(moment, origin);
  const double chance = errors * errors * e.variance;
  const double square = e.value * e.value;
  if (square <= chance) return 0;
  const double part = chance / square;
  return e.value * (1 - part * part);
}

void EndFit::FollowSample(std::span<const float> ends) {
  const BinnedSample sample(ends, sample_mean_, sample_deviation_);
  const auto quantile = [&](double p) { return sample.Quantile(p); };
  const auto n = static_cast<double>(ends.size());
  std::vector<double> offset(kNodes, 0.0);
  FollowTail(-1, n, quantile, offset);
  FollowTail(1, n, quantile, offset);
  shape_ = shape_.MovedBy(offset);
}

// From the middle outwards in one direction.
void EndFit::FollowTail(int direction, double n,
                        const std::function<double(double)>& quantile,
                        std::span<double> offset) {
  Tail& tail = direction < 0 ? lower_ : upper_;
  double dense_offset = 0;
  for (int i = 0; i <= kMiddle; ++i) {
    const double beyond = Probabilities()[kMiddle - i];
    const int node = kMiddle + direction * i;
    const double z = ScoreShape::NodeScore(node);
    if (n * beyond < kFewestSamples) {
      offset[node] = dense_offset;
      continue;
    }
    const double p = direction < 0 ? beyond : 1 - beyond;
    const double half = std::sqrt(p * (1 - p) / n);
    // As the sample tells, which is a guess itself where it is thin, or as the
    // shape does.
    const double slope =
        (shape_.At(z + ScoreShape::kStep) - shape_.At(z - ScoreShape::kStep)) /
        (2 * ScoreShape::kStep);
    const double error = std::max((quantile(p + half) - quantile(p - half)) / 2,
                                  half * slope / stats::NormalDensity(z));
    const double off = quantile(p) - shape_.At(z);
    const double wrong = kWrongErrors * error;
    if (n * beyond >= kDenseSamples) {
      const double chance =
          kChanceErrors * error / std::max(std::abs(off), 1e-300);
      dense_offset = off * std::max(0.0, 1 - chance * chance);
      tail.dense = std::max(std::abs(z), 1.0);
      tail.dense_off = std::max(0.0, std::abs(off) - wrong);
    } else if (std::abs(z) >= 1) {
      tail.off_rate = std::max(
          tail.off_rate,
          std::max(0.0, std::abs(off - dense_offset) - wrong) / FourthPower(z));
    }
    offset[node] = dense_offset;
  }
}

// How far the lognormal and the gamma with the leader's skewness are apart at
// score z.
double EndFit::ApartAt(double z) const {
  if (std::abs(skew_) < kNoSkewness) return 0;
  const double sign = skew_ < 0 ? -1 : 1;
  // By Wilson and Hilferty (1931).
  const double root = std::abs(skew_) / 6;  // 1 / (3 sqrt(shape))
  const double base = std::max(0.0, 1 - root * root + root * sign * z);
  const double gamma = sign * (base * base * base - 1) / (3 * root);
  return lognormal_.At(z) - gamma;
}

double EndFit::MisfitAt(double z) const {
  const Tail& tail = z < 0 ? lower_ : upper_;
  if (std::abs(z) <= tail.dense || deviation_ <= 0) return 0;
  const double apart =
      std::abs(ApartAt(z) - ApartAt(z < 0 ? -tail.dense : tail.dense));
  const double grown = tail.dense_off * (FourthPower(z / tail.dense) - 1);
  return deviation_ * std::max({apart, grown, tail.off_rate * FourthPower(z)});
}

}  // namespace prism::step
