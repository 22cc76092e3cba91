#include "core/step/composition/replica_sampler.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/stats/draw_kernels.h"
#include "core/stats/normal.h"

namespace prism::step {
namespace {

// Salts of the random streams.
constexpr uint32_t kOperationDraws = 1;
constexpr uint32_t kLoadDraws = 2;
constexpr uint32_t kStallDraws = 3;

constexpr size_t kOperationsBetweenPolls = 512;

size_t PaddedRow(size_t elements) {
  return (elements + kPipelineRow - 1) / kPipelineRow * kPipelineRow;
}

}  // namespace

ReplicaSampler::ReplicaSampler(const PipelineModel& model,
                               std::span<const KindFactors> kinds,
                               uint64_t random_key)
    : model_(model), kinds_(kinds), random_key_(random_key) {}

bool ReplicaSampler::Run(std::span<const ReplicaPair> pairs,
                         const base::Budget& budget,
                         std::span<float* const> ends) {
  PRISM_CHECK(pairs.size() <= kBlock);
  BeginBlock(pairs);
  for (size_t i = 0; i < model_.operations.size(); ++i) {
    RunOperation(i);
    if (i % kOperationsBetweenPolls == 0 && budget.Cancelled()) return false;
  }
  CopyEnds(pairs.size(), ends);
  return true;
}

bool ReplicaSampler::RunQuietly(std::span<const ReplicaPair> pairs,
                                const base::Budget& budget,
                                std::span<float* const> ends) {
  quiet_ = true;
  const bool complete = Run(pairs, budget, ends);
  quiet_ = false;
  return complete;
}

bool ReplicaSampler::RunControlled(std::span<const ReplicaPair> pairs,
                                   const ControlWeights& weights,
                                   const base::Budget& budget,
                                   std::span<float* const> ends,
                                   float* control) {
  weights_ = &weights;
  const bool complete = Run(pairs, budget, ends);
  weights_ = nullptr;
  std::copy_n(control_.begin(), pairs.size(), control);
  return complete;
}

void ReplicaSampler::DrawControl(std::span<const ReplicaPair> pairs,
                                 const ControlWeights& weights,
                                 float* control) {
  weights_ = &weights;
  BeginBlock(pairs);
  while (drawn_scores_ < weights.score.size()) NextScores();
  weights_ = nullptr;
  std::copy_n(control_.begin(), pairs.size(), control);
}

bool ReplicaSampler::RunMoved(std::span<const ReplicaPair> pairs,
                              const ControlWeights& weights,
                              const float* control, float at,
                              const base::Budget& budget,
                              std::span<float* const> ends) {
  const size_t half = PaddedRow(pairs.size());
  move_.assign(2 * half, 0);
  for (size_t i = 0; i < pairs.size(); ++i) {
    move_[i] = at - control[i];
    move_[half + i] = -move_[i];
  }
  weights_ = &weights;
  const bool complete = Run(pairs, budget, ends);
  weights_ = nullptr;
  move_.clear();
  return complete;
}

bool ReplicaSampler::RunTraced(std::span<const ReplicaPair> pairs,
                               std::span<const double> closing_mean,
                               const base::Budget& budget,
                               std::span<float* const> ends,
                               CriticalPaths& paths) {
  traced_ = true;
  const bool complete = Run(pairs, budget, ends);
  traced_ = false;
  if (complete) TracePaths(pairs.size(), closing_mean, paths);
  return complete;
}

void ReplicaSampler::TracePaths(size_t pairs,
                                std::span<const double> closing_mean,
                                CriticalPaths& paths) const {
  for (size_t i = 0; i < width_; ++i) {
    if (i % half_ >= pairs) continue;
    int latest = 0;
    double end = -INFINITY;
    for (int s = 0; s < model_.stages; ++s) {
      const double own = double{clock_[s * width_ + i]} +
                         model_.nominal_end[s] + closing_mean[s];
      if (own <= end) continue;
      end = own;
      latest = s;
    }
    paths.Add(latest, &waited_[i], width_);
  }
}

void ReplicaSampler::CopyEnds(size_t pairs,
                              std::span<float* const> ends) const {
  for (int s = 0; s < model_.stages; ++s) {
    const float* clock = &clock_[s * width_];
    for (size_t i = 0; i < pairs; ++i) {
      ends[s][2 * i] = clock[i];
      ends[s][2 * i + 1] = clock[half_ + i];
    }
  }
  if (model_.behind_latest.empty()) return;
  float* latest = ends[model_.latest];
  for (int s = 0; s < model_.stages; ++s) {
    const float* clock = &clock_[s * width_];
    const float behind = model_.behind_latest[s];
    for (size_t i = 0; i < pairs; ++i) {
      latest[2 * i] = std::max(latest[2 * i], clock[i] + behind);
      latest[2 * i + 1] =
          std::max(latest[2 * i + 1], clock[half_ + i] + behind);
    }
  }
}

void ReplicaSampler::BeginBlock(std::span<const ReplicaPair> pairs) {
  half_ = PaddedRow(pairs.size());
  width_ = 2 * half_;
  sample_.assign(half_, 0);
  for (size_t i = 0; i < pairs.size(); ++i) sample_[i] = pairs[i].sample;
  clock_.assign(model_.stages * width_, 0);
  arrival_.resize(model_.slots * width_);
  score_.resize(kScoreRows * width_);
  next_score_ = kScoreRows;
  group_ = 0;
  drawn_scores_ = 0;
  if (weights_ != nullptr) control_.assign(half_, 0);
  if (traced_) waited_.assign(model_.operations.size() * width_, 0);
  for (auto* row : {&deviation_, &extra_}) row->resize(width_);
  if (!kinds_.empty()) {
    FillFactors(pairs);
  } else {
    shift_.assign(width_, 0);
    spread_.assign(width_, 1);
  }
  DrawLoads();
  PlaceStalls(pairs);
}

namespace {

// How `kind` stretches the spread of a deviation at site number `site`; the
// network's share of the variance follows no compute factor.
float SpreadAt(const KindFactors& kind, size_t site, const OperationLaw& law) {
  const auto share = static_cast<float>(law.network_share);
  return kind.spread[site] * (1 - share) + share;
}

// A compute factor F turns C + N into F C + N.
float ShiftAt(const KindFactors& kind, size_t site, const OperationLaw& law) {
  return (kind.mean[site] - 1) * static_cast<float>(law.compute_mean);
}

}  // namespace

void ReplicaSampler::FillFactors(std::span<const ReplicaPair> pairs) {
  const int first = pairs[0].kind;
  alike_ = !model_.load.has_value() &&
           std::all_of(pairs.begin(), pairs.end(),
                       [&](const ReplicaPair& p) { return p.kind == first; });
  if (alike_ && first != alike_kind_) FillAlike(kinds_[first]);
  alike_kind_ = alike_ ? first : alike_kind_;
  const size_t sites = model_.sites.size();
  shift_.resize(sites * width_);
  spread_.resize(sites * width_);
  for (size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
    while (end < pairs.size() && pairs[end].kind == pairs[begin].kind) ++end;
    const KindFactors& kind = kinds_[pairs[begin].kind];
    // What is padding follows the last kind.
    const size_t size = (end == pairs.size() ? half_ : end) - begin;
    for (size_t site = 0; site < sites; ++site) {
      const OperationLaw& law = model_.laws[model_.sites[site].law];
      for (const size_t at : {begin, half_ + begin}) {
        std::fill_n(&shift_[site * width_ + at], size,
                    ShiftAt(kind, site, law));
        std::fill_n(&spread_[site * width_ + at], size,
                    SpreadAt(kind, site, law));
      }
    }
  }
}

void ReplicaSampler::FillAlike(const KindFactors& kind) {
  alike_polynomial_.resize(model_.sites.size());
  for (size_t site = 0; site < model_.sites.size(); ++site) {
    const OperationLaw& law = model_.laws[model_.sites[site].law];
    if (law.draws.size() != 1 || !law.draws[0].is_polynomial) continue;
    ScorePolynomial& polynomial = alike_polynomial_[site];
    polynomial = law.draws[0].polynomial;
    for (float& c : polynomial) c *= SpreadAt(kind, site, law);
    polynomial.back() += ShiftAt(kind, site, law);
  }
}

void ReplicaSampler::DrawLoads() {
  if (!model_.load.has_value()) return;
  load_.resize(model_.microbatches * width_);
  if (quiet_) {
    std::fill(load_.begin(), load_.end(), 1.0f);
    return;
  }
  for (int m = 0; m < model_.microbatches; ++m) {
    if (m % kScoreRows == 0) {
      ScoreRows(random_key_, m / kScoreRows, kLoadDraws, sample_.data(), half_,
                score_.data());
    }
    float* row = &load_[m * width_];
    float* score = &score_[m % kScoreRows * width_];
    if (weights_ != nullptr) TakeScore(weights_->load[m], score);
    if (model_.load->is_polynomial) {
      PolynomialRow(score, width_, model_.load->polynomial, row);
    } else {
      TableRow(score, width_, model_.load->table.data(), row);
    }
    FactorRow(width_, row);
  }
}

// Each stall strikes an operation with the probability that its law gives it.
void ReplicaSampler::PlaceStalls(std::span<const ReplicaPair> pairs) {
  stalls_.clear();
  next_stall_ = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    for (int k = 0; k < pairs[i].stalls; ++k) {
      const uint64_t replica[stats::kRowPad] = {};
      uint64_t sample[stats::kRowPad];
      std::fill(std::begin(sample), std::end(sample), pairs[i].sample);
      double where[stats::kRowPad], size[stats::kRowPad];
      stats::UniformRows(
          {random_key_, static_cast<uint32_t>(k), kStallDraws, replica, sample},
          1, where, size);
      double left = where[0] * model_.expected_stalls;
      for (size_t op = 0; op < model_.operations.size() && left >= 0; ++op) {
        const OperationLaw& law = model_.laws[model_.operations[op].law];
        for (const RareStall& stall : law.stalls) {
          left -= stall.probability;
          if (left >= 0) continue;
          const double seconds =
              stall.seconds.At(stats::NormalQuantile(size[0]));
          const auto extra =
              static_cast<float>(std::max(0.0, seconds - stall.typical));
          stalls_.push_back({op, i, extra});
          stalls_.push_back({op, half_ + i, extra});
          break;
        }
      }
    }
  }
  std::sort(stalls_.begin(), stalls_.end(), [](const Stall& a, const Stall& b) {
    return a.operation < b.operation;
  });
}

// Moves a score, or adds it to the control.
void ReplicaSampler::TakeScore(float weight, float* score) {
  if (weight == 0) return;
  if (!move_.empty()) {
    AddScaledRow(move_.data(), weight, width_, score);
  } else {
    AddScaledRow(score, weight, half_, control_.data());
  }
}

const float* ReplicaSampler::NextScores() {
  if (next_score_ == kScoreRows) {
    ScoreRows(random_key_, group_++, kOperationDraws, sample_.data(), half_,
              score_.data());
    next_score_ = 0;
  }
  float* score = &score_[next_score_++ * width_];
  if (weights_ != nullptr) TakeScore(weights_->score[drawn_scores_++], score);
  return score;
}

void ReplicaSampler::Draw(const ScoreDraw& draw, float* out) {
  const float* score = NextScores();
  if (draw.is_polynomial) {
    PolynomialRow(score, width_, draw.polynomial, out);
  } else {
    TableRow(score, width_, draw.table.data(), out);
  }
}

void ReplicaSampler::Deviation(const OperationLaw& law, float* out) {
  if (law.draws.empty() || quiet_) {
    std::fill_n(out, width_, 0.0f);
    return;
  }
  Draw(law.draws[0], out);
  for (size_t i = 1; i < law.draws.size(); ++i) {
    Draw(law.draws[i], extra_.data());
    AddRow(extra_.data(), width_, out);
  }
}

void ReplicaSampler::ApplyFactors(const PipelineOperation& op,
                                  const OperationLaw& law) {
  const float* shift = &shift_[kinds_.empty() ? 0 : op.site * width_];
  const float* spread = &spread_[kinds_.empty() ? 0 : op.site * width_];
  if (model_.load.has_value()) {
    ScaleLoadedRow(&load_[op.microbatch * width_],
                   static_cast<float>(law.compute_mean),
                   static_cast<float>(law.network_share), shift, spread, width_,
                   deviation_.data());
    return;
  }
  ScaleRow(shift, spread, width_, deviation_.data());
}

void ReplicaSampler::ApplyStalls(size_t index) {
  for (;
       next_stall_ < stalls_.size() && stalls_[next_stall_].operation == index;
       ++next_stall_) {
    deviation_[stalls_[next_stall_].element] += stalls_[next_stall_].extra;
  }
}

// The polynomial that is all of an operation's deviation, or null.
const ScorePolynomial* ReplicaSampler::OnlyPolynomial(
    const PipelineOperation& op) const {
  const OperationLaw& law = model_.laws[op.law];
  if (quiet_ || model_.load.has_value() || law.draws.size() != 1 ||
      !law.draws[0].is_polynomial) {
    return nullptr;
  }
  if (kinds_.empty()) return &law.draws[0].polynomial;
  return alike_ ? &alike_polynomial_[op.site] : nullptr;
}

// Which elements start operation `index` with its arrival.
void ReplicaSampler::MarkWaits(size_t index) {
  const PipelineOperation& op = model_.operations[index];
  const float* clock = &clock_[op.stage * width_];
  const float* arrival = &arrival_[op.receives * width_];
  for (size_t i = 0; i < width_; ++i) {
    waited_[index * width_ + i] =
        arrival[i] + op.arrival_offset > clock[i] + op.own_offset;
  }
}

void ReplicaSampler::RunOperation(size_t index) {
  const PipelineOperation& op = model_.operations[index];
  const OperationLaw& law = model_.laws[op.law];
  float* clock = &clock_[op.stage * width_];
  const float* arrival =
      op.receives == kAbsent ? nullptr : &arrival_[op.receives * width_];
  const bool stalled =
      next_stall_ < stalls_.size() && stalls_[next_stall_].operation == index;
  if (traced_ && arrival != nullptr) MarkWaits(index);
  const ScorePolynomial* only = stalled ? nullptr : OnlyPolynomial(op);
  if (only != nullptr) {
    const float* score = NextScores();
    if (arrival == nullptr) {
      AdvancePolynomial(score, *only, width_, clock);
    } else {
      AdvancePolynomialAfter(arrival, op.own_offset, op.arrival_offset, score,
                             *only, width_, clock);
    }
  } else {
    Deviation(law, deviation_.data());
    if (!kinds_.empty() || model_.load.has_value()) ApplyFactors(op, law);
    ApplyStalls(index);
    if (arrival == nullptr) {
      AddRow(deviation_.data(), width_, clock);
    } else {
      AdvanceAfter(arrival, op.own_offset, op.arrival_offset, deviation_.data(),
                   width_, clock);
    }
  }
  if (op.sends == kAbsent) return;
  float* sent = &arrival_[op.sends * width_];
  const HopLaw& hop = model_.hops[op.hop];
  if (hop.is_constant || quiet_) {
    std::copy_n(clock, width_, sent);
  } else if (hop.draw.is_polynomial) {
    SumPolynomial(clock, NextScores(), hop.draw.polynomial, width_, sent);
  } else {
    Draw(hop.draw, extra_.data());
    SumRow(clock, extra_.data(), width_, sent);
  }
}

}  // namespace prism::step
