#include "core/step/composition/sharded_sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "core/stats/draw_kernels.h"
#include "core/stats/normal.h"
#include "core/step/composition/sharded_budget.h"
#include "core/step/composition/sharded_kernels.h"

namespace prism::step {
namespace {

constexpr int kCompute = static_cast<int>(FactorClass::kCompute);
constexpr int kNetwork = static_cast<int>(FactorClass::kNetwork);

constexpr uint64_t kRoundKey = 0xD1B54A32D192ED03;
// Coordinates that are stratified; the others are plain draws at a fifth of the
// cost.
constexpr int kStratified = 24;
// Rows of the pool of loads, fewer where each has many barriers.
constexpr int kMostPoolRows = 96;
constexpr int kLeastPoolRows = 32;
constexpr int kPoolBarriers = 512;
// Of a meeting in one round, at least.
constexpr int kLeastMeetingRows = 128;
constexpr int kSamplesStep = 32;
constexpr uint64_t kMeetingKey = 0xA0761D6478BD642F;
// Before everything.
constexpr double kNever = -1e300;

// A number below `rows` for each key.
int PlaceOf(uint64_t key, int rows) {
  const uint64_t mixed = (key ^ (key >> 29)) * kRoundKey;
  return static_cast<int>((mixed >> 32) * static_cast<uint64_t>(rows) >> 32);
}

int PoolRows(const ShardedModel& model) {
  std::set<int> loaded;
  for (const StretchRun& run : model.program.runs) {
    if (run.microbatch != kAbsent) loaded.insert(run.stretch);
  }
  size_t barriers = 1;
  for (int stretch : loaded) {
    barriers += std::max<size_t>(model.laws[0][stretch]->replicas.size(), 1);
  }
  return std::clamp(kPoolBarriers / static_cast<int>(barriers), kLeastPoolRows,
                    kMostPoolRows);
}

}  // namespace

ShardedSampler::ShardedSampler(const ShardedModel& model, uint64_t random_key,
                               double latest_weight)
    : model_(model), random_key_(random_key), latest_weight_(latest_weight) {}

void ShardedSampler::StartRound(int samples) {
  n_ = static_cast<size_t>(samples);
  scores_.emplace(random_key_ + kRoundKey * round_++, samples, kStratified);
  clock_.assign(model_.lanes, std::vector<double>(n_, 0.0));
}

bool ShardedSampler::Extend(int samples, const base::Budget& budget) {
  if (IsOver(budget)) return false;
  StartRound(samples);
  DrawFactors();
  PlaceBetweenRatios();
  if (model_.loads != nullptr) {
    if (moments_.empty() && !DrawPool(budget)) return false;
    if (!DrawLoads(budget)) return false;
  }
  for (const ShardedItem& item : model_.items) {
    if (!AddItem(item, budget)) return false;
  }
  std::vector<double> step = clock_[0];
  for (const auto& clock : clock_) TakeLatest(clock.data(), n_, step.data());
  steps_.insert(steps_.end(), step.begin(), step.end());
  return true;
}

void ShardedSampler::DrawFactors() {
  compute_.assign(n_, 1.0);
  network_.assign(n_, 1.0);
  for (const auto& [shared, values] : model_.factors) {
    const float* score = scores_->NextExact();
    for (size_t i = 0; i < n_; ++i) {
      const double factor =
          std::max(values.At(static_cast<double>(score[i])), 0.0);
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

bool ShardedSampler::DrawPool(const base::Budget& budget) {
  const LoadPool pool(*model_.loads, random_key_, PoolRows(model_));
  decltype(moments_) moments;
  for (const auto& laws : model_.laws) {
    auto& node = moments.emplace_back(laws.size());
    for (const StretchRun& run : model_.program.runs) {
      auto& entries = node[run.stretch];
      if (run.microbatch == kAbsent || !entries.empty()) continue;
      const size_t count =
          std::max<size_t>(laws[run.stretch]->replicas.size(), 1);
      for (size_t entry = 0; entry < count; ++entry) {
        entries.push_back(
            pool.Moments(*laws[run.stretch], static_cast<int>(entry), budget));
        if (entries.back().empty()) return false;
      }
    }
  }
  moments_ = std::move(moments);
  return true;
}

bool ShardedSampler::DrawLoads(const base::Budget& budget) {
  const int pool_rows = PoolRows(model_);
  load_row_.assign(model_.graph->microbatches, std::vector<int>(n_));
  for (auto& rows : load_row_) {
    if (IsOver(budget)) return false;
    const float* score = scores_->NextExact();
    for (size_t i = 0; i < n_; ++i) {
      const double u = stats::NormalCdf(static_cast<double>(score[i]));
      rows[i] = std::min(static_cast<int>(u * pool_rows), pool_rows - 1);
    }
  }
  return true;
}

bool ShardedSampler::AddItem(const ShardedItem& item,
                             const base::Budget& budget) {
  if (item.meets) return Meet(item, budget);
  for (int lane = 0; lane < model_.lanes; ++lane) {
    if (IsOver(budget)) return false;
    AddSum(item, lane);
    if (!item.loaded.empty() && !AddLoaded(item, lane, budget)) return false;
  }
  return true;
}

void ShardedSampler::AddCurve(const ScoreCurve& curve,
                              const std::vector<double>& factor,
                              double* clock) {
  const float* score = curve.is_constant() ? nullptr
                       : curve.is_table()  ? scores_->NextExact()
                                           : scores_->Next();
  curve.Add(score, factor.data(), n_, clock);
}

// At all nodes of the ratio by the same score.
void ShardedSampler::AddCurves(const ItemCurves& curves, int entry,
                               double* clock) {
  if (curves.compute.size() == 1) {
    AddCurve(curves.compute[0][entry], compute_, clock);
    return;
  }
  const float* score = scores_->Next();
  for (size_t q = 0; q < curves.compute.size(); ++q) {
    curves.compute[q][entry].Add(score, ratio_weight_[q].data(), n_, clock);
  }
}

void ShardedSampler::AddSum(const ShardedItem& item, int lane) {
  double* clock = clock_[lane].data();
  const ItemCurves& curves = *item.curves;
  AddCurves(curves, curves.compute[0].size() == 1 ? 0 : lane, clock);
  AddCurve(curves.network, network_, clock);
  if (curves.network_constant == 0) return;
  AddScaledConstant(network_.data(), curves.network_constant, n_, clock);
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

bool ShardedSampler::AddLoaded(const ShardedItem& item, int lane,
                               const base::Budget& budget) {
  mean_.assign(n_, 0.0);
  variance_.assign(n_, 0.0);
  third_.assign(n_, 0.0);
  for (const StretchRun& run : item.loaded) {
    if (IsOver(budget)) return false;
    const auto& entries = moments_[0][run.stretch];
    AddLoadMoments(run.stretch, run.microbatch, entries.size() == 1 ? 0 : lane,
                   run.count);
  }
  const float* score = scores_->Next();
  auto& clock = clock_[lane];
  for (size_t i = 0; i < n_; ++i) {
    const double z = static_cast<double>(score[i]);
    clock[i] += mean_[i];
    if (variance_[i] <= 0) continue;
    clock[i] += std::sqrt(variance_[i]) * z +
                third_[i] / variance_[i] * (z * z - 1) / 6;
  }
  return true;
}

ShardedSampler::StallRows ShardedSampler::DrawStalls(
    const StretchLaw& law, StretchStall::Place place) {
  const bool shared = place == StretchStall::Place::kShared;
  StallRows rows(shared ? 1 : model_.lanes);
  for (const StretchStall& stall : law.stalls) {
    if (stall.place != place) continue;
    const auto& factor =
        stall.factor_class == FactorClass::kNetwork ? network_ : compute_;
    for (auto& row : rows) {
      const float* score = scores_->NextExact();
      for (size_t i = 0; i < n_; ++i) {
        const auto excess = stall.ExcessAt(static_cast<double>(score[i]));
        if (!excess.has_value()) continue;
        row.emplace_back(static_cast<int>(i),
                         compute_[i] * law.own.mean() + factor[i] * *excess);
      }
    }
  }
  return rows;
}

bool ShardedSampler::Meet(const ShardedItem& item, const base::Budget& budget) {
  std::vector<std::vector<double>> next(model_.lanes,
                                        std::vector<double>(n_, kNever));
  const bool done = item.microbatch != kAbsent ? MeetByLoad(item, budget, next)
                                               : MeetByRows(item, budget, next);
  if (!done) return false;
  AddStalls(*model_.laws[0][item.stretch], next);
  clock_ = std::move(next);
  return true;
}

// Each block of samples takes all rows, from another one on.
bool ShardedSampler::MeetByRows(const ShardedItem& item,
                                const base::Budget& budget,
                                std::vector<std::vector<double>>& next) {
  const int samples = static_cast<int>(n_);
  const int rows = std::max(samples / model_.meeting_reuse,
                            std::min(samples, kLeastMeetingRows)) /
                   kSamplesStep * kSamplesStep;
  const uint64_t key = random_key_ + kMeetingKey * ++meeting_;
  if (!rows_.Draw(model_, item, rows, key, latest_weight_, budget)) {
    return false;
  }
  std::vector<double> end(rows);
  for (int block = 0; block * rows < samples; ++block) {
    if (IsOver(budget)) return false;
    const size_t start = static_cast<size_t>(block) * rows;
    const auto count = std::min<size_t>(rows, n_ - start);
    const int first = block == 0 ? 0 : PlaceOf(key + block, rows);
    for (int from = 0; from < model_.lanes; ++from) {
      for (int to = 0; to < model_.lanes; ++to) {
        const size_t e = static_cast<size_t>(from) * model_.lanes + to;
        const double* clock = &clock_[from][start];
        const size_t last = ratio_weight_.size() - 1;
        for (size_t q = 0; q < last; ++q) {
          std::copy_n(clock, q == 0 ? count : 0, end.begin());
          stats::AddScaled(rows_.From(q, e, first), &ratio_weight_[q][start],
                           count, end.data());
          clock = end.data();
        }
        TakeLatestAfter(clock, &ratio_weight_[last][start],
                        rows_.From(last, e, first), count, &next[to][start]);
      }
    }
  }
  return true;
}

bool ShardedSampler::MeetByLoad(const ShardedItem& item,
                                const base::Budget& budget,
                                std::vector<std::vector<double>>& next) {
  mean_.assign(n_, 0.0);
  variance_.assign(n_, 0.0);
  third_.assign(n_, 0.0);
  AddLoadMoments(item.stretch, item.microbatch, 0, 1);
  // Now the deviation, and the factor of the quadratic term.
  for (size_t i = 0; i < n_; ++i) {
    third_[i] = variance_[i] > 0 ? third_[i] / variance_[i] / 6 : 0;
    variance_[i] = std::sqrt(variance_[i]);
  }
  const auto score =
      EntryScores(model_.laws[0][item.stretch]->copula, model_.lanes,
                  static_cast<int>(n_), *scores_, budget);
  for (size_t e = 0; e < score.size(); ++e) {
    const auto& from = clock_[e / model_.lanes];
    auto& to = next[e % model_.lanes];
    for (size_t i = 0; i < n_; ++i) {
      const double z = static_cast<double>(score[e][i]);
      const double end =
          from[i] + mean_[i] + variance_[i] * z + third_[i] * (z * z - 1);
      to[i] = std::max(to[i], end);
    }
  }
  return !score.empty();
}

// Stalls of single replicas, from the clocks before the meeting.
void ShardedSampler::AddStalls(const StretchLaw& law,
                               std::vector<std::vector<double>>& next) {
  using Place = StretchStall::Place;
  const StallRows shared = DrawStalls(law, Place::kShared);
  const StallRows first = DrawStalls(law, Place::kFirst);
  const StallRows last = DrawStalls(law, Place::kLast);
  for (int from = 0; from < model_.lanes; ++from) {
    for (int to = 0; to < model_.lanes; ++to) {
      for (const auto* stalls : {&shared[0], &first[from], &last[to]}) {
        for (const auto& [i, seconds] : *stalls) {
          next[to][i] = std::max(next[to][i], clock_[from][i] + seconds);
        }
      }
    }
  }
}

}  // namespace prism::step
