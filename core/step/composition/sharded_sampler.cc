#include "core/step/composition/sharded_sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/stats/normal.h"
#include "core/step/composition/pipeline_kernels.h"

namespace prism::step {
namespace {

constexpr int kCompute = static_cast<int>(FactorClass::kCompute);
constexpr int kNetwork = static_cast<int>(FactorClass::kNetwork);

constexpr uint32_t kShardedStreams = 0x5E000000;
// Coordinates that are stratified; the others are plain draws at a tenth of
// the cost.
constexpr int kStratified = 24;
// Rows of the pool of loads.
constexpr int kPoolRows = 256;

}  // namespace

ShardedSampler::ScoreSource::ScoreSource(uint64_t key, int samples)
    : key_(key),
      cube_(key, samples),
      row_(kScoreRows),
      sample_(samples),
      scores_(static_cast<size_t>(samples) * kScoreRows) {
  for (int i = 0; i < samples; ++i) sample_[i] = static_cast<uint32_t>(i);
}

const std::vector<double>& ShardedSampler::ScoreSource::Next() {
  if (coordinate_ < kStratified) return NextExact();
  const size_t n = sample_.size();
  if (row_ == kScoreRows) {
    ScoreRows(key_, group_++, kShardedStreams, sample_.data(), n,
              scores_.data());
    row_ = 0;
  }
  current_.resize(n);
  const float* row = &scores_[n * row_++];
  std::copy(row, row + n, current_.begin());
  return current_;
}

const std::vector<double>& ShardedSampler::ScoreSource::NextExact() {
  ++coordinate_;
  current_ = cube_.Next();
  return current_;
}

ShardedSampler::ShardedSampler(const ShardedModel& model, uint64_t random_key,
                               int samples)
    : model_(model),
      random_key_(random_key),
      n_(static_cast<size_t>(samples)),
      scores_(random_key, samples),
      clock_(model.lanes, std::vector<double>(n_, 0.0)) {}

std::vector<double> ShardedSampler::Run(const base::Budget& budget) {
  DrawFactors();
  PlaceBetweenRatios();
  if (!DrawLoads(budget)) return {};
  for (const ShardedItem& item : model_.items) {
    if (budget.Cancelled()) return {};
    AddItem(item);
  }
  std::vector<double> step = clock_[0];
  for (const auto& clock : clock_) {
    for (size_t i = 0; i < n_; ++i) step[i] = std::max(step[i], clock[i]);
  }
  return step;
}

void ShardedSampler::DrawFactors() {
  compute_.assign(n_, 1.0);
  network_.assign(n_, 1.0);
  for (const SharedFactor* shared : model_.factors) {
    const ScoreCurve values(TailLaw::Of(shared->distribution));
    const auto& score = scores_.NextExact();
    for (size_t i = 0; i < n_; ++i) {
      const double factor = std::max(values.At(score[i]), 0.0);
      if (shared->applies_to[kCompute]) compute_[i] *= factor;
      if (shared->applies_to[kNetwork]) network_[i] *= factor;
    }
  }
}

void ShardedSampler::PlaceBetweenRatios() {
  const auto& ratios = model_.ratios;
  ratio_weight_.assign(ratios.size(), compute_);
  if (ratios.size() == 1) return;
  for (auto& weight : ratio_weight_) weight.assign(n_, 0.0);
  const int last = static_cast<int>(ratios.size()) - 2;
  for (size_t i = 0; i < n_; ++i) {
    const double ratio = network_[i] / std::max(compute_[i], 1e-300);
    int k = 0;
    while (k < last && ratios[k + 1] < ratio) ++k;
    const double part = (ratio - ratios[k]) / (ratios[k + 1] - ratios[k]);
    ratio_weight_[k][i] = (1 - part) * compute_[i];
    ratio_weight_[k + 1][i] = part * compute_[i];
  }
}

bool ShardedSampler::DrawLoads(const base::Budget& budget) {
  if (model_.load == nullptr) return true;
  const LoadPool pool(*model_.graph, *model_.load, random_key_, kPoolRows);
  for (const auto& laws : model_.laws) {
    auto& node = moments_.emplace_back(laws.size());
    for (const StretchRun& run : model_.program.runs) {
      auto& entries = node[run.stretch];
      if (run.microbatch == kAbsent || !entries.empty()) continue;
      const size_t count =
          std::max<size_t>(laws[run.stretch].replicas.size(), 1);
      for (size_t entry = 0; entry < count; ++entry) {
        entries.push_back(
            pool.Moments(laws[run.stretch], static_cast<int>(entry), budget));
        if (entries.back().empty()) return false;
      }
    }
  }
  for (int m = 0; m < model_.graph->microbatches; ++m) {
    auto& rows = load_row_.emplace_back(n_);
    const auto& score = scores_.NextExact();
    for (size_t i = 0; i < n_; ++i) {
      rows[i] =
          std::min(static_cast<int>(stats::NormalCdf(score[i]) * kPoolRows),
                   kPoolRows - 1);
    }
  }
  return true;
}

void ShardedSampler::AddItem(const ShardedItem& item) {
  if (item.meets) {
    Meet(item);
    return;
  }
  for (int lane = 0; lane < model_.lanes; ++lane) {
    AddSum(item, lane);
    if (!item.loaded.empty()) AddLoaded(item, lane);
  }
}

void ShardedSampler::AddCurve(const ScoreCurve& curve,
                              const std::vector<double>& factor, double* out) {
  if (curve.is_constant()) {
    const double mean = curve.mean();
    for (size_t i = 0; i < n_; ++i) out[i] += factor[i] * mean;
    return;
  }
  const auto& score = curve.is_table() ? scores_.NextExact() : scores_.Next();
  curve.Add(score, factor, out);
}

// At all nodes of the ratio by the same score.
void ShardedSampler::AddCurves(const ShardedItem& item, int entry,
                               double* out) {
  if (item.compute.size() == 1) {
    AddCurve(item.compute[0][entry], compute_, out);
    return;
  }
  bool table = false;
  for (const auto& node : item.compute) table = table || node[entry].is_table();
  const auto& score = table ? scores_.NextExact() : scores_.Next();
  for (size_t q = 0; q < item.compute.size(); ++q) {
    item.compute[q][entry].Add(score, ratio_weight_[q], out);
  }
}

void ShardedSampler::AddSum(const ShardedItem& item, int lane) {
  double* clock = clock_[lane].data();
  const int entry = item.compute[0].size() == 1 ? 0 : lane;
  AddCurves(item, entry, clock);
  AddCurve(item.network, network_, clock);
  if (item.network_constant == 0) return;
  for (size_t i = 0; i < n_; ++i) {
    clock[i] += network_[i] * item.network_constant;
  }
}

// mean_ and variance_ += those of `count` barriers, given the loads.
void ShardedSampler::AddLoadMoments(int stretch, int microbatch, int entry,
                                    double count) {
  const auto& rows = load_row_[microbatch];
  for (size_t q = 0; q < moments_.size(); ++q) {
    const auto& pool = moments_[q][stretch][entry];
    const auto& weight = ratio_weight_[q];
    for (size_t i = 0; i < n_; ++i) {
      if (weight[i] == 0) continue;
      const BarrierMoments& m = pool[rows[i]];
      mean_[i] += weight[i] * count * m.mean;
      // Deviations mix linearly, as the values at one score do.
      const double share = weight[i] / compute_[i];
      const double scale = share * compute_[i] * compute_[i] * count;
      variance_[i] += scale * m.variance;
      third_[i] += scale * compute_[i] * m.third;
    }
  }
}

void ShardedSampler::AddLoaded(const ShardedItem& item, int lane) {
  mean_.assign(n_, 0.0);
  variance_.assign(n_, 0.0);
  third_.assign(n_, 0.0);
  for (const StretchRun& run : item.loaded) {
    const auto& entries = moments_[0][run.stretch];
    AddLoadMoments(run.stretch, run.microbatch, entries.size() == 1 ? 0 : lane,
                   run.count);
  }
  const auto& score = scores_.Next();
  auto& clock = clock_[lane];
  for (size_t i = 0; i < n_; ++i) {
    const double z = score[i];
    clock[i] += mean_[i];
    if (variance_[i] <= 0) continue;
    clock[i] += std::sqrt(variance_[i]) * z +
                third_[i] / variance_[i] * (z * z - 1) / 6;
  }
}

const std::vector<double>& ShardedSampler::MeetingScores(
    const MeetingCopula& copula, const std::vector<double>& first,
    const std::vector<double>& last) {
  row_ = common_;
  for (size_t i = 0; i < n_; ++i) {
    row_[i] += copula.same_first * first[i] + copula.same_last * last[i];
  }
  if (copula.own > 0) {
    const auto& own = scores_.Next();
    for (size_t i = 0; i < n_; ++i) row_[i] += copula.own * own[i];
  }
  return row_;
}

void ShardedSampler::Meet(const ShardedItem& item) {
  const MeetingCopula& copula = model_.laws[0][item.stretch].copula;
  const int lanes = model_.lanes;
  common_ = scores_.Next();
  for (double& z : common_) z *= copula.common;
  std::vector<std::vector<double>> last(lanes);
  for (auto& row : last) row = scores_.Next();
  if (item.microbatch != kAbsent) {
    mean_.assign(n_, 0.0);
    variance_.assign(n_, 0.0);
    third_.assign(n_, 0.0);
    AddLoadMoments(item.stretch, item.microbatch, 0, 1);
    for (double& v : variance_) v = std::sqrt(v);
  }
  std::vector<std::vector<double>> next(lanes, std::vector<double>(n_, -1e300));
  std::vector<double> end(n_), first(n_);
  for (int from = 0; from < lanes; ++from) {
    first = scores_.Next();
    for (int to = 0; to < lanes; ++to) {
      const auto& score = MeetingScores(copula, first, last[to]);
      end = clock_[from];
      if (item.microbatch != kAbsent) {
        for (size_t i = 0; i < n_; ++i) {
          end[i] += mean_[i] + variance_[i] * score[i];
        }
      } else {
        for (size_t q = 0; q < item.compute.size(); ++q) {
          const auto& node = item.compute[q];
          const auto& curve =
              node.size() == 1 ? node[0] : node[from * lanes + to];
          curve.Add(score, ratio_weight_[q], end.data());
        }
      }
      for (size_t i = 0; i < n_; ++i) {
        next[to][i] = std::max(next[to][i], end[i]);
      }
    }
  }
  clock_ = std::move(next);
}

}  // namespace prism::step
