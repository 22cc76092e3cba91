#include "core/step/composition/sharded_sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "core/stats/normal.h"
#include "core/step/composition/pipeline_kernels.h"
#include "core/step/composition/sharded_budget.h"
#include "core/step/composition/sharded_kernels.h"

namespace prism::step {
namespace {

constexpr int kCompute = static_cast<int>(FactorClass::kCompute);
constexpr int kNetwork = static_cast<int>(FactorClass::kNetwork);

constexpr uint32_t kShardedStreams = 0x5E000000;
constexpr uint64_t kRoundKey = 0xD1B54A32D192ED03;
// Coordinates that are stratified, where a lane is all there is and where
// lanes meet; the others are plain draws at a tenth of the cost.
constexpr int kStratified = 24;
constexpr int kStratifiedMeetings = 6;
// Rows of the pool of loads, fewer where each has many barriers.
constexpr int kMostPoolRows = 96;
constexpr int kLeastPoolRows = 32;
constexpr int kPoolBarriers = 512;
// Each costs some ten microseconds.
constexpr int kEntriesBetweenLooks = 64;

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

int StratifiedCoordinates(const ShardedModel& model) {
  const bool meets =
      std::any_of(model.items.begin(), model.items.end(),
                  [](const ShardedItem& item) { return item.meets; });
  return meets ? kStratifiedMeetings : kStratified;
}

}  // namespace

ShardedSampler::ScoreSource::ScoreSource(uint64_t key, int samples,
                                         int stratified)
    : key_(key),
      cube_(key, samples),
      stratified_(stratified),
      row_(kScoreRows),
      sample_(samples / 2),
      scores_(static_cast<size_t>(samples) * kScoreRows),
      exact_(samples) {
  std::iota(sample_.begin(), sample_.end(), 0U);
}

const float* ShardedSampler::ScoreSource::Next() {
  if (stratified_ > 0) return NextExact();
  // Of each pair of rows of samples the second mirrors the first.
  if (row_ == kScoreRows) {
    ScoreRows(key_, group_++, kShardedStreams, sample_.data(), sample_.size(),
              scores_.data());
    row_ = 0;
  }
  return &scores_[exact_.size() * row_++];
}

const float* ShardedSampler::ScoreSource::NextExact() {
  --stratified_;
  const std::vector<double> scores = cube_.Next();
  for (size_t i = 0; i < exact_.size(); ++i) {
    exact_[i] = static_cast<float>(scores[i]);
  }
  return exact_.data();
}

ShardedSampler::ShardedSampler(const ShardedModel& model, uint64_t random_key,
                               double latest_weight)
    : model_(model), random_key_(random_key), latest_weight_(latest_weight) {}

void ShardedSampler::StartRound(int samples) {
  n_ = static_cast<size_t>(samples);
  scores_.emplace(random_key_ + kRoundKey * round_++, samples,
                  StratifiedCoordinates(model_));
  clock_.assign(model_.lanes, std::vector<double>(n_, 0.0));
}

bool ShardedSampler::Extend(int samples, const base::Budget& budget) {
  if (IsOver(budget)) return false;
  StartRound(samples);
  DrawFactors();
  PlaceBetweenRatios();
  if (model_.load != nullptr) {
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
  for (const SharedFactor* shared : model_.factors) {
    const ScoreCurve values(TailLaw::Of(shared->distribution));
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
  const LoadPool pool(*model_.graph, *model_.load, random_key_,
                      PoolRows(model_));
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
  if (item.work != nullptr) return MeetOneByOne(item, budget);
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

// A replica's lanes work, wait for the last of them, go through all meetings
// together and work on; the barrier waits for the last replica.
bool ShardedSampler::MeetOneByOne(const ShardedItem& item,
                                  const base::Budget& budget) {
  const WorkCurves& curves = *item.work;
  const auto& slowdown = model_.graph->slowdown;
  const auto& latest_of = model_.laws[0][item.stretch]->work->latest_of;
  // The laws are those at the first ratio.
  std::vector<double> network(network_);
  for (double& factor : network) factor /= model_.ratios[0];
  std::vector<double> factor(compute_), end(n_), start(n_);
  const int lanes = model_.lanes;
  std::vector<std::vector<double>> next(lanes, std::vector<double>(n_, -1e300));
  auto set_factor = [&](double speed) {
    for (size_t i = 0; i < n_; ++i) factor[i] = compute_[i] * speed;
  };
  auto add = [&](const ScoreCurve& curve, const std::vector<double>& by,
                 std::vector<double>& clock) {
    const float* score = curve.is_constant() ? nullptr : scores_->Next();
    curve.Add(score, by.data(), n_, clock.data());
  };
  for (int r = 0; r < model_.graph->grid.replicas; ++r) {
    if (IsOver(budget)) return false;
    std::fill(start.begin(), start.end(), -1e300);
    for (int lane = 0; lane < lanes; ++lane) {
      if (!slowdown.empty()) set_factor(slowdown[r * lanes + lane]);
      end = clock_[lane];
      add(curves.first_compute, factor, end);
      add(curves.first_network, network, end);
      TakeLatest(end.data(), n_, start.data());
    }
    add(curves.collectives, network, start);
    if (latest_of.empty()) {
      add(curves.latest, compute_, start);
    } else {
      set_factor(latest_of[r].first);
      add(curves.latest, factor, start);
      AddScaledConstant(compute_.data(), latest_of[r].second, n_, start.data());
    }
    for (int lane = 0; lane < lanes; ++lane) {
      if (!slowdown.empty()) set_factor(slowdown[r * lanes + lane]);
      end = start;
      add(curves.last_compute, factor, end);
      add(curves.last_network, network, end);
      TakeLatest(end.data(), n_, next[lane].data());
    }
  }
  clock_ = std::move(next);
  return true;
}

bool ShardedSampler::Meet(const ShardedItem& item, const base::Budget& budget) {
  const StretchLaw& law = *model_.laws[0][item.stretch];
  const MeetingCopula& copula = law.copula;
  const std::array<float, 4> weight = {
      static_cast<float>(copula.common), static_cast<float>(copula.same_first),
      static_cast<float>(copula.same_last), static_cast<float>(copula.own)};
  if (item.microbatch != kAbsent) {
    mean_.assign(n_, 0.0);
    variance_.assign(n_, 0.0);
    third_.assign(n_, 0.0);
    AddLoadMoments(item.stretch, item.microbatch, 0, 1);
    // Now the deviation, and the factor of the quadratic term.
    for (size_t i = 0; i < n_; ++i) {
      third_[i] = variance_[i] > 0 ? third_[i] / variance_[i] / 6 : 0;
      variance_[i] = std::sqrt(variance_[i]);
    }
  }
  const int lanes = model_.lanes;
  auto copy = [this](const float* row) { return ScoreRow(row, row + n_); };
  using Place = StretchStall::Place;
  const StallRows shared_stalls = DrawStalls(law, Place::kShared);
  const StallRows first_stalls = DrawStalls(law, Place::kFirst);
  const StallRows last_stalls = DrawStalls(law, Place::kLast);
  const ScoreRow common = copy(scores_->Next());
  std::vector<ScoreRow> last;
  for (int to = 0; to < lanes; ++to) last.push_back(copy(scores_->Next()));
  std::vector<ScoreRow> score(static_cast<size_t>(lanes) * lanes);
  for (int from = 0; from < lanes; ++from) {
    if (IsOver(budget)) return false;
    const ScoreRow first = copy(scores_->Next());
    for (int to = 0; to < lanes; ++to) {
      ScoreRow& own = score[from * lanes + to];
      own.resize(n_);
      MixScores({common.data(), first.data(), last[to].data(), scores_->Next()},
                weight, n_, own.data());
    }
  }
  std::vector<std::vector<double>> entry(score.size(),
                                         std::vector<double>(n_, 0.0));
  if (!AddEntries(item, score, budget, entry)) return false;
  std::vector<std::vector<double>> next(lanes, std::vector<double>(n_, -1e300));
  for (int from = 0; from < lanes; ++from) {
    if (IsOver(budget)) return false;
    for (int to = 0; to < lanes; ++to) {
      auto& end = entry[from * lanes + to];
      for (const auto* stalls :
           {&shared_stalls[0], &first_stalls[from], &last_stalls[to]}) {
        for (const auto& [i, seconds] : *stalls) {
          end[i] = std::max(end[i], seconds);
        }
      }
      for (size_t i = 0; i < n_; ++i) end[i] += clock_[from][i];
      TakeLatest(end.data(), n_, next[to].data());
    }
  }
  clock_ = std::move(next);
  return true;
}

// What the stretch adds from lane to lane, without stalls.
bool ShardedSampler::AddEntries(const ShardedItem& item,
                                const std::vector<ScoreRow>& score,
                                const base::Budget& budget,
                                std::vector<std::vector<double>>& entry) {
  if (item.microbatch != kAbsent) {
    for (size_t e = 0; e < entry.size(); ++e) {
      for (size_t i = 0; i < n_; ++i) {
        const double z = static_cast<double>(score[e][i]);
        entry[e][i] = mean_[i] + variance_[i] * z + third_[i] * (z * z - 1);
      }
    }
    return true;
  }
  const std::vector<double> one(n_, 1.0);
  std::vector<std::vector<double>> at(entry.size());
  for (size_t q = 0; q < item.curves->compute.size(); ++q) {
    const auto& curves = item.curves->compute[q];
    std::vector<double> latest(n_, -1e300);
    for (size_t e = 0; e < entry.size(); ++e) {
      if (e % kEntriesBetweenLooks == 0 && IsOver(budget)) return false;
      at[e].assign(n_, 0.0);
      const ScoreCurve& curve = curves.size() == 1 ? curves[0] : curves[e];
      curve.Add(score[e].data(), one.data(), n_, at[e].data());
      TakeLatest(at[e].data(), n_, latest.data());
    }
    std::vector<double> missing(n_, 0.0);
    if (latest_weight_ > 0) {
      missing = MissingTo(item.curves->latest[q], latest);
    }
    for (size_t e = 0; e < entry.size(); ++e) {
      for (size_t i = 0; i < n_; ++i) {
        entry[e][i] +=
            ratio_weight_[q][i] * (at[e][i] + latest_weight_ * missing[i]);
      }
    }
  }
  return true;
}

// The scores know of the entries in pairs, and the law of the latest is known:
// samples in the order of their latest entry take its quantiles.
std::vector<double> ShardedSampler::MissingTo(
    const ScoreCurve& law, const std::vector<double>& latest) {
  std::vector<uint32_t> order(latest.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return latest[a] < latest[b];
  });
  std::vector<double> missing(latest.size());
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const double u =
        (static_cast<double>(rank) + 0.5) / static_cast<double>(order.size());
    missing[order[rank]] =
        law.At(stats::NormalQuantile(u)) - latest[order[rank]];
  }
  return missing;
}

}  // namespace prism::step
