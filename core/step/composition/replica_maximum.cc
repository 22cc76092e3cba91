#include "core/step/composition/replica_maximum.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "core/stats/normal.h"
#include "core/step/composition/score_law.h"

namespace prism::step {
namespace {

// Kinds whose share of the chance to be last is below this are left out.
constexpr double kNegligibleShare = 1e-4;
constexpr int64_t kPilotSamples = 2048;
constexpr int64_t kFewestPilotSamples = 32;
// Weight, in samples, of the pooled variance in a kind's own.
constexpr double kPooledWeight = 256;
// Strata of rare stalls: none, one, two or more.
constexpr int kStrata = 3;

// Samples with their ends: [stage][sample].
struct SampleSet {
  std::vector<ReplicaSample> samples;
  std::vector<float> ends;

  std::span<const float> stage(int s) const {
    return {&ends[s * samples.size()], samples.size()};
  }
};

// A standardised law by its skewness and excess of kurtosis: a shifted
// lognormal, which follows the skewness, plus the cubic Hermite term of what
// kurtosis the lognormal leaves. Monotone for every skewness.
class ScoreShape {
 public:
  ScoreShape() = default;

  ScoreShape(double skew, double kurtosis) {
    g_ = LogSigma(std::abs(skew));
    sign_ = skew < 0 ? -1 : 1;
    const double e = std::exp(g_ * g_);
    if (g_ > kSmall) {
      mean_ = (std::sqrt(e) - 1) / g_;
      sd_ = std::sqrt(e * (e - 1)) / g_;
    }
    const double own = e * e * e * e + 2 * e * e * e + 3 * e * e - 6;
    cubic_ = std::clamp(kurtosis - own, -0.25, 2.0) / 24;
  }

  // Quantile at score z.
  double At(double z) const {
    const double s = sign_ * z;
    const double y = g_ > kSmall ? std::expm1(g_ * s) / g_ : s;
    return sign_ * (y - mean_) / sd_ + cubic_ * (z * z * z - 3 * z);
  }

  // Score at which At is y.
  double Inverse(double y) const {
    double z = std::clamp(y, -6.0, 6.0);
    for (int i = 0; i < 30; ++i) {
      const double slope = (g_ > kSmall ? std::exp(sign_ * g_ * z) : 1) / sd_ +
                           cubic_ * (3 * z * z - 3);
      const double step =
          std::clamp((At(z) - y) / std::max(slope, 0.02), -2.0, 2.0);
      z -= step;
      if (std::abs(step) < 1e-8) break;
    }
    return z;
  }

 private:
  static constexpr double kSmall = 1e-6;

  // Sigma of the lognormal with skewness (e + 2) sqrt(e - 1), e = exp(s^2).
  static double LogSigma(double skew) {
    double low = 0, high = 2;
    for (int i = 0; i < 50; ++i) {
      const double s = (low + high) / 2;
      const double e = std::exp(s * s);
      ((e + 2) * std::sqrt(e - 1) < skew ? low : high) = s;
    }
    return low;
  }

  double g_ = 0;
  double sign_ = 1;
  double mean_ = 0;
  double sd_ = 1;
  double cubic_ = 0;
};

// The law of one kind at one stage, as a deviation from nominal.
struct KindLaw {
  int count = 1;
  double mean = 0;
  double sd = 0;
  double mean_error = 0;
};

class Maximum {
 public:
  Maximum(const PipelineModel& model, const MaximumRequest& request,
          const base::Budget& budget, base::Executor& executor)
      : model_(model),
        request_(request),
        budget_(budget),
        executor_(executor) {}

  absl::StatusOr<std::vector<MaximumLaw>> Run() {
    SetStrata();
    if (!Pilot() || !Main() || !Stalls()) {
      return absl::CancelledError("cancelled");
    }
    std::vector<MaximumLaw> laws;
    for (int stage = 0; stage < model_.stages; ++stage) {
      laws.push_back(LawOfStage(stage));
    }
    return laws;
  }

 private:
  // Stalls strike independently, so their number is Poisson.
  void SetStrata() {
    const double expected = model_.expected_stalls;
    stratum_[0] = std::exp(-expected);
    stratum_[1] = expected * std::exp(-expected);
    stratum_[2] = std::max(0.0, 1 - stratum_[0] - stratum_[1]);
  }

  bool Simulate(SampleSet& set) {
    const size_t n = set.samples.size();
    set.ends.resize(model_.stages * n);
    const size_t block = ReplicaSampler::kBlock;
    const int blocks = static_cast<int>((n + block - 1) / block);
    const int workers = std::min(executor_.concurrency(), blocks);
    std::atomic<int> next{0};
    std::atomic<bool> complete{true};
    executor_.ParallelFor(workers, [&](int) {
      ReplicaSampler sampler(model_, request_.factors, request_.random_key);
      for (int b = next++; b < blocks && complete; b = next++) {
        const size_t begin = b * block;
        const std::span<const ReplicaSample> part(&set.samples[begin],
                                                  std::min(block, n - begin));
        if (!sampler.Run(part, budget_, n, &set.ends[begin])) {
          complete = false;
        }
      }
    });
    return complete;
  }

  int kinds() const { return static_cast<int>(request_.kinds.size()); }

  // Where there are several kinds, a first look at which can be last. All kinds
  // see the same draws, so that they differ by their factors alone.
  bool Pilot() {
    relevance_.assign(kinds(), 1.0);
    if (kinds() == 1) return true;
    const int64_t each = std::max(kFewestPilotSamples, kPilotSamples / kinds());
    SampleSet set;
    for (int k = 0; k < kinds(); ++k) {
      for (int64_t i = 0; i < each; ++i) {
        set.samples.push_back({k, static_cast<uint32_t>(i), 0});
      }
    }
    if (!Simulate(set)) return false;
    std::vector<double> mean(kinds(), 0.0);
    double squares = 0;
    const int n = static_cast<int>(set.samples.size());
    for (int i = 0; i < n; ++i) {
      mean[set.samples[i].kind] += EndOf(set, i) / static_cast<double>(each);
    }
    for (int i = 0; i < n; ++i) {
      const double off = EndOf(set, i) - mean[set.samples[i].kind];
      squares += off * off;
    }
    const double sd = std::sqrt(squares / std::max(1, n - kinds()));
    Weigh(mean, sd);
    return true;
  }

  // When the whole replica is done, closing included, as a deviation.
  double EndOf(const SampleSet& set, size_t i) const {
    double end = -INFINITY;
    for (int s = 0; s < model_.stages; ++s) {
      end = std::max(end, set.stage(s)[i] + model_.nominal_end[s] +
                              request_.closing_mean[s]);
    }
    return end;
  }

  // The share of each kind in the chance of lying beyond the median of the
  // maximum.
  void Weigh(const std::vector<double>& mean, double sd) {
    const auto [lowest, highest] =
        std::minmax_element(mean.begin(), mean.end());
    double low = *lowest - 8 * sd, high = *highest + 8 * sd;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      double log_p = 0;
      for (int k = 0; k < kinds(); ++k) {
        log_p += request_.kinds[k].count *
                 LogNormalCdf(sd > 0             ? (middle - mean[k]) / sd
                              : middle > mean[k] ? 40
                                                 : -40);
      }
      (log_p < std::log(0.5) ? low : high) = middle;
    }
    double sum = 0;
    for (int k = 0; k < kinds(); ++k) {
      const double score = sd > 0 ? (high - mean[k]) / sd : 0;
      relevance_[k] = request_.kinds[k].count * stats::NormalCdf(-score);
      sum += relevance_[k];
    }
    for (double& r : relevance_) r /= sum;
  }

  bool Main() {
    double total = 0;
    for (double& r : relevance_) {
      if (r < kNegligibleShare) r = 0;
      total += r;
    }
    uint32_t next = 1u << 20;  // away from the pilot's draws
    for (int k = 0; k < kinds(); ++k) {
      const int64_t n =
          std::llround(std::ceil(request_.samples * relevance_[k] / total));
      for (int64_t i = 0; i < n; ++i) main_.samples.push_back({k, next++, 0});
    }
    return Simulate(main_);
  }

  bool Stalls() {
    if (model_.expected_stalls == 0) return true;
    for (int number = 1; number < kStrata; ++number) {
      SampleSet& set = stalled_[number];
      const int64_t n = request_.samples / (4 * number);
      for (int64_t i = 0; i < n; ++i) {
        const auto& like = main_.samples[i * main_.samples.size() / n];
        set.samples.push_back({like.kind,
                               static_cast<uint32_t>((number + 1u) << 24) +
                                   static_cast<uint32_t>(i),
                               number});
      }
      if (!Simulate(set)) return false;
    }
    return true;
  }

  // Means by kind, a pooled deviation that each kind's own is drawn to, and a
  // common skewness.
  std::vector<KindLaw> FitKinds(int stage, ScoreShape* shape, double* samples) {
    const std::span<const float> ends = main_.stage(stage);
    std::vector<double> n(kinds(), 0), sum(kinds(), 0), squares(kinds(), 0);
    for (size_t i = 0; i < ends.size(); ++i) {
      const int k = main_.samples[i].kind;
      n[k] += 1;
      sum[k] += ends[i];
    }
    double pooled = 0, degrees = 0;
    for (size_t i = 0; i < ends.size(); ++i) {
      const int k = main_.samples[i].kind;
      const double off = ends[i] - sum[k] / n[k];
      squares[k] += off * off;
    }
    for (int k = 0; k < kinds(); ++k) {
      pooled += squares[k];
      degrees += std::max(n[k] - 1, 0.0);
    }
    const double pooled_variance = degrees > 0 ? pooled / degrees : 0;
    std::vector<KindLaw> laws(kinds());
    for (int k = 0; k < kinds(); ++k) {
      laws[k].count = n[k] > 0 ? request_.kinds[k].count : 0;
      if (n[k] == 0) continue;
      laws[k].mean = sum[k] / n[k];
      const double weight = kinds() == 1 ? 0 : kPooledWeight;
      laws[k].sd = std::sqrt((squares[k] + weight * pooled_variance) /
                             (std::max(n[k] - 1, 1.0) + weight));
      laws[k].mean_error = laws[k].sd / std::sqrt(n[k]);
    }
    *samples = static_cast<double>(ends.size());
    *shape = FitShape(ends, laws);
    return laws;
  }

  // Skewness and kurtosis of the standardised deviations, each drawn to its
  // value for a normal by its own uncertainty, which batches tell.
  ScoreShape FitShape(std::span<const float> ends,
                      const std::vector<KindLaw>& laws) const {
    constexpr int kBatches = 16;
    std::array<double, kBatches> cubes = {}, fourths = {}, counts = {};
    for (size_t i = 0; i < ends.size(); ++i) {
      const KindLaw& law = laws[main_.samples[i].kind];
      if (law.sd <= 0) continue;
      const double x = (ends[i] - law.mean) / law.sd;
      const int batch = static_cast<int>(i % kBatches);
      cubes[batch] += x * x * x;
      fourths[batch] += x * x * x * x;
      counts[batch] += 1;
    }
    auto shrunk = [&](std::array<double, kBatches>& sums, double origin) {
      double mean = 0, squares = 0;
      for (int b = 0; b < kBatches; ++b) {
        sums[b] = sums[b] / std::max(counts[b], 1.0) - origin;
        mean += sums[b] / kBatches;
      }
      for (double value : sums) squares += (value - mean) * (value - mean);
      const double variance = squares / (kBatches * (kBatches - 1));
      const double signal = std::max(0.0, mean * mean - variance);
      return signal > 0 ? mean * signal / (signal + variance) : 0.0;
    };
    const double skew = shrunk(cubes, 0);
    return ScoreShape(skew, shrunk(fourths, 3));
  }

  // Deviations of a stratum from the mean of their kinds, ascending.
  std::vector<double> StallDeviations(const SampleSet& set, int stage,
                                      const std::vector<KindLaw>& laws) const {
    std::vector<double> off;
    const std::span<const float> ends = set.stage(stage);
    for (size_t i = 0; i < ends.size(); ++i) {
      off.push_back(ends[i] - laws[set.samples[i].kind].mean);
    }
    std::sort(off.begin(), off.end());
    return off;
  }

  static double EmpiricalCdf(const std::vector<double>& sorted, double x) {
    const auto above = std::upper_bound(sorted.begin(), sorted.end(), x);
    // Between order statistics, and never quite 1.
    const double rank = static_cast<double>(above - sorted.begin());
    return rank / (static_cast<double>(sorted.size()) + 1);
  }

  MaximumLaw LawOfStage(int stage) {
    double samples;
    ScoreShape shape;
    const std::vector<KindLaw> laws = FitKinds(stage, &shape, &samples);
    std::vector<std::vector<double>> stalled(kStrata);
    if (model_.expected_stalls > 0) {
      for (int i = 1; i < kStrata; ++i) {
        stalled[i] = StallDeviations(stalled_[i], stage, laws);
      }
    }
    auto log_cdf = [&](double x) {
      double sum = 0;
      for (const KindLaw& law : laws) {
        if (law.count == 0) continue;
        const double y = law.sd > 0      ? (x - law.mean) / law.sd
                         : x >= law.mean ? 40
                                         : -40;
        const double score = shape.Inverse(y);
        if (stalled[1].empty()) {
          sum += law.count * LogNormalCdf(score);
          continue;
        }
        double p = stratum_[0] * stats::NormalCdf(score);
        for (int i = 1; i < kStrata; ++i) {
          p += stratum_[i] * EmpiricalCdf(stalled[i], x - law.mean);
        }
        sum += law.count * std::log(std::max(p, 1e-300));
      }
      return sum;
    };
    return Tabulate(stage, laws, samples, stalled, log_cdf);
  }

  template <typename LogCdf>
  MaximumLaw Tabulate(int stage, const std::vector<KindLaw>& laws,
                      double samples,
                      const std::vector<std::vector<double>>& stalled,
                      const LogCdf& log_cdf) {
    double low = INFINITY, high = -INFINITY, sd = 0, mean_error = 0, best = 0;
    double replicas = 0;
    for (size_t k = 0; k < laws.size(); ++k) {
      const KindLaw& law = laws[k];
      if (law.count == 0) continue;
      replicas += law.count;
      low = std::min(low, law.mean - 9 * law.sd);
      high = std::max(high, law.mean + 9 * law.sd);
      if (relevance_[k] > best) {
        best = relevance_[k];
        sd = law.sd;
        mean_error = law.mean_error;
      }
    }
    if (!stalled[1].empty()) {
      high = std::max(high, high + stalled[1].back() +
                                (stalled[2].empty() ? 0 : stalled[2].back()));
    }
    MaximumLaw law;
    double previous = low;
    for (int node = 0; node < MaximumLaw::kNodes; ++node) {
      const double z = MaximumLaw::NodeScore(node);
      const double target = LogNormalCdf(z);
      double a = previous, b = high;
      for (int i = 0; i < 50 && b - a > 1e-7 * (high - low); ++i) {
        const double middle = (a + b) / 2;
        (log_cdf(middle) < target ? a : b) = middle;
      }
      previous = a;
      law.seconds.push_back(b + model_.nominal_end[stage]);
      // Errors of mean, deviation and skewness at the score of one replica.
      const double zeta = ScoreOfOneAmong(replicas, z);
      const double e_sd = sd * zeta / std::sqrt(2 * samples);
      const double e_skew = sd * (zeta * zeta - 1) / 6 * std::sqrt(6 / samples);
      law.standard_error.push_back(
          std::sqrt(mean_error * mean_error + e_sd * e_sd + e_skew * e_skew));
    }
    return law;
  }

  const PipelineModel& model_;
  const MaximumRequest& request_;
  const base::Budget& budget_;
  base::Executor& executor_;
  std::array<double, kStrata> stratum_ = {};
  std::vector<double> relevance_;  // by kind
  SampleSet main_;
  std::array<SampleSet, kStrata> stalled_;
};

double Interpolate(const std::vector<double>& values, double score) {
  const double position =
      std::clamp((score + MaximumLaw::kEnd) / MaximumLaw::kStep, 0.0,
                 MaximumLaw::kNodes - 1.000001);
  const int node = static_cast<int>(position);
  const double part = position - node;
  return values[node] + part * (values[node + 1] - values[node]);
}

}  // namespace

double MaximumLaw::At(double score) const {
  return Interpolate(seconds, score);
}

double MaximumLaw::ErrorAt(double score) const {
  return Interpolate(standard_error, score);
}

absl::StatusOr<std::vector<MaximumLaw>> MaximumOverReplicas(
    const PipelineModel& model, const MaximumRequest& request,
    const base::Budget& budget, base::Executor& executor) {
  return Maximum(model, request, budget, executor).Run();
}

}  // namespace prism::step
