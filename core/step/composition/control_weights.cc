#include "core/step/composition/control_weights.h"

#include <array>
#include <cmath>

#include "core/stats/normal.h"

namespace prism::step {
namespace {

// E[z draw(z)], by the trapezoid rule.
float SlopeOf(const ScoreDraw& draw) {
  constexpr size_t kScores = 8 * kPipelineRow;
  constexpr float kStep = 1.0f / 16;
  std::array<float, kScores> score, value;
  for (size_t i = 0; i < kScores; ++i) {
    score[i] = (static_cast<float>(i) - (kScores - 1) / 2.0f) * kStep;
  }
  if (draw.is_polynomial) {
    PolynomialRow(score.data(), kScores, draw.polynomial, value.data());
  } else {
    TableRow(score.data(), kScores, draw.table.data(), value.data());
  }
  double slope = 0;
  for (size_t i = 0; i < kScores; ++i) {
    const auto z = static_cast<double>(score[i]);
    slope += kStep * stats::NormalDensity(z) * z * double{value[i]};
  }
  return static_cast<float>(slope);
}

void Normalise(ControlWeights& weights) {
  double squares = 0;
  for (const auto* row : {&weights.score, &weights.load}) {
    for (const float w : *row) squares += double{w} * double{w};
  }
  if (squares == 0) return;
  const auto scale = static_cast<float>(1 / std::sqrt(squares));
  for (auto* row : {&weights.score, &weights.load}) {
    for (float& w : *row) w *= scale;
  }
}

}  // namespace

CriticalPaths::CriticalPaths(const PipelineModel& model)
    : model_(model),
      last_(model.stages, kAbsent),
      operation_(model.operations.size(), 0.0f),
      hop_(model.operations.size(), 0.0f) {
  std::vector<int> sender(model.slots, kAbsent);
  for (size_t i = 0; i < model.operations.size(); ++i) {
    const PipelineOperation& op = model.operations[i];
    previous_.push_back(last_[op.stage]);
    sender_.push_back(op.receives == kAbsent ? kAbsent : sender[op.receives]);
    last_[op.stage] = static_cast<int>(i);
    if (op.sends != kAbsent) sender[op.sends] = static_cast<int>(i);
  }
}

void CriticalPaths::Add(int stage, const uint8_t* waited, size_t stride) {
  for (int op = last_[stage]; op != kAbsent;) {
    ++operation_[op];
    if (sender_[op] != kAbsent && waited[op * stride] != 0) {
      op = sender_[op];
      ++hop_[op];
    } else {
      op = previous_[op];
    }
  }
}

ControlWeights CriticalPaths::Weights() const {
  std::vector<std::vector<float>> slopes;
  for (const OperationLaw& law : model_.laws) {
    auto& of_law = slopes.emplace_back();
    for (const ScoreDraw& draw : law.draws) of_law.push_back(SlopeOf(draw));
  }
  std::vector<float> hop_slope;
  for (const HopLaw& hop : model_.hops) {
    hop_slope.push_back(hop.is_constant ? 0.0f : SlopeOf(hop.draw));
  }
  const float load_slope = model_.load.has_value() ? SlopeOf(*model_.load) : 0;
  ControlWeights weights;
  weights.load.assign(model_.microbatches, 0.0f);
  for (size_t i = 0; i < model_.operations.size(); ++i) {
    const PipelineOperation& op = model_.operations[i];
    for (const float slope : slopes[op.law]) {
      weights.score.push_back(operation_[i] * slope);
    }
    if (op.sends != kAbsent && !model_.hops[op.hop].is_constant) {
      weights.score.push_back(hop_[i] * hop_slope[op.hop]);
    }
    weights.load[op.microbatch] +=
        operation_[i] * load_slope *
        static_cast<float>(model_.laws[op.law].compute_mean);
  }
  Normalise(weights);
  return weights;
}

}  // namespace prism::step
