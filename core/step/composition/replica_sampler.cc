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

void ReplicaSampler::RunQuietly(std::span<const ReplicaPair> pairs,
                                std::span<float* const> ends) {
  quiet_ = true;
  BeginBlock(pairs);
  for (size_t i = 0; i < model_.operations.size(); ++i) RunOperation(i);
  CopyEnds(pairs.size(), ends);
  quiet_ = false;
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
}

void ReplicaSampler::BeginBlock(std::span<const ReplicaPair> pairs) {
  half_ = (pairs.size() + kPipelineRow - 1) / kPipelineRow * kPipelineRow;
  width_ = 2 * half_;
  sample_.assign(half_, 0);
  for (size_t i = 0; i < pairs.size(); ++i) sample_[i] = pairs[i].sample;
  clock_.assign(model_.stages * width_, 0);
  arrival_.resize(model_.slots * width_);
  score_.resize(kScoreRows * width_);
  next_score_ = kScoreRows;
  group_ = 0;
  for (auto* row : {&deviation_, &extra_, &factor_, &spread_}) {
    row->resize(width_);
  }
  if (!kinds_.empty()) {
    const size_t rows = model_.laws.size() * model_.stages;
    mean_factor_.assign(rows * width_, 1);
    spread_factor_.assign(rows * width_, 1);
    for (size_t i = 0; i < pairs.size(); ++i) {
      const KindFactors& kind = kinds_[pairs[i].kind];
      for (size_t row = 0; row < rows; ++row) {
        for (const size_t element : {i, half_ + i}) {
          mean_factor_[row * width_ + element] = kind.mean[row];
          spread_factor_[row * width_ + element] = kind.spread[row];
        }
      }
    }
  }
  DrawLoads();
  PlaceStalls(pairs);
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
    const float* score = &score_[m % kScoreRows * width_];
    if (model_.load->is_polynomial) {
      PolynomialRow(score, width_, model_.load->polynomial, row);
    } else {
      TableRow(score, width_, model_.load->table, row);
    }
    for (size_t i = 0; i < width_; ++i) row[i] = std::max(row[i] + 1, 0.0f);
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

const float* ReplicaSampler::NextScores() {
  if (next_score_ == kScoreRows) {
    ScoreRows(random_key_, group_++, kOperationDraws, sample_.data(), half_,
              score_.data());
    next_score_ = 0;
  }
  return &score_[next_score_++ * width_];
}

void ReplicaSampler::Draw(const ScoreDraw& draw, float* out) {
  const float* score = NextScores();
  if (draw.is_polynomial) {
    PolynomialRow(score, width_, draw.polynomial, out);
  } else {
    TableRow(score, width_, draw.table, out);
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

// A compute factor F turns C + N into F C + N. Of the deviation, the network's
// share of the variance follows no compute factor.
void ReplicaSampler::ApplyFactors(const PipelineOperation& op,
                                  const OperationLaw& law) {
  const size_t row = (op.law * model_.stages + op.stage) * width_;
  if (kinds_.empty()) {
    std::copy_n(&load_[op.microbatch * width_], width_, factor_.data());
    std::copy_n(factor_.data(), width_, spread_.data());
  } else {
    std::copy_n(&mean_factor_[row], width_, factor_.data());
    std::copy_n(&spread_factor_[row], width_, spread_.data());
    if (model_.load.has_value()) {
      const float* load = &load_[op.microbatch * width_];
      MultiplyRow(load, width_, factor_.data());
      MultiplyRow(load, width_, spread_.data());
    }
  }
  if (law.network_share > 0) {
    const float share = static_cast<float>(law.network_share);
    for (size_t i = 0; i < width_; ++i) {
      spread_[i] += (1 - spread_[i]) * share;
    }
  }
  ScaleRow(factor_.data(), spread_.data(), static_cast<float>(law.compute_mean),
           width_, deviation_.data());
}

void ReplicaSampler::RunOperation(size_t index) {
  const PipelineOperation& op = model_.operations[index];
  const OperationLaw& law = model_.laws[op.law];
  float* clock = &clock_[op.stage * width_];
  const float* arrival =
      op.receives == kAbsent ? nullptr : &arrival_[op.receives * width_];
  const bool stalled =
      next_stall_ < stalls_.size() && stalls_[next_stall_].operation == index;
  const bool plain =
      !quiet_ && kinds_.empty() && !model_.load.has_value() && !stalled;
  if (plain && law.draws.size() == 1 && law.draws[0].is_polynomial) {
    const float* score = NextScores();
    if (arrival == nullptr) {
      AdvancePolynomial(score, law.draws[0].polynomial, width_, clock);
    } else {
      AdvancePolynomialAfter(arrival, op.own_offset, op.arrival_offset, score,
                             law.draws[0].polynomial, width_, clock);
    }
  } else {
    Deviation(law, deviation_.data());
    if (!kinds_.empty() || model_.load.has_value()) ApplyFactors(op, law);
    for (; next_stall_ < stalls_.size() &&
           stalls_[next_stall_].operation == index;
         ++next_stall_) {
      deviation_[stalls_[next_stall_].element] += stalls_[next_stall_].extra;
    }
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
  } else {
    Draw(hop.draw, extra_.data());
    SumRow(clock, extra_.data(), width_, sent);
  }
}

}  // namespace prism::step
