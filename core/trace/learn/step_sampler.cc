#include "core/trace/learn/step_sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace prism::trace {
namespace {

std::vector<double> Exponentials(const std::vector<double>& logs) {
  std::vector<double> factors;
  factors.reserve(logs.size());
  for (const double log : logs) factors.push_back(std::exp(log));
  return factors;
}

double UnitInterval(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

}  // namespace

StepSampler::StepSampler(const StepModel& model, uint64_t seed)
    : model_(model),
      random_(seed),
      ranked_(model.observed.steps.size()),
      rest_(Exponentials(model.computes.rest)),
      typical_(Exponentials(model.computes.typical)),
      places_(static_cast<size_t>(model.closing.step_draws)),
      effect_(model.computes.shape.components),
      order_(model.computes.shape.microbatches) {
  std::iota(ranked_.begin(), ranked_.end(), size_t{0});
  std::stable_sort(ranked_.begin(), ranked_.end(), [&](size_t a, size_t b) {
    return model_.observed.steps[a].replayed_seconds <
           model_.observed.steps[b].replayed_seconds;
  });
  std::iota(order_.begin(), order_.end(), size_t{0});
  for (size_t d = 0; d < model.computes.shape.replicas; ++d) {
    if (!model.computes.own_rest[d]) alike_.push_back(d);
  }
}

size_t StepSampler::Below(size_t count) {
  return static_cast<size_t>(UnitInterval(random_) *
                             static_cast<double>(count));
}

void StepSampler::DrawPlaces() {
  const size_t gaps = ranked_.size() - 1;
  for (Place& place : places_) {
    const double at = UnitInterval(random_) * static_cast<double>(gaps);
    const size_t below = std::min(static_cast<size_t>(at), gaps - 1);
    place = {ranked_[below], ranked_[below + 1],
             at - static_cast<double>(below)};
  }
}

double StepSampler::At(const Place& place, int32_t operation) const {
  const auto o = static_cast<size_t>(operation);
  const auto& steps = model_.observed.steps;
  return (1 - place.weight) * steps[place.below].work[o] +
         place.weight * steps[place.above].work[o];
}

double StepSampler::Draw(std::span<double> work) {
  DrawPlaces();
  DrawComputes(work);
  DrawClosing(work);
  DrawTransfers(work);
  const Place& place = places_[static_cast<size_t>(model_.closing.delay_draw)];
  const auto delay = [&](size_t s) {
    const ObservedStep& step = model_.observed.steps[s];
    return step.measured_seconds - step.replayed_seconds;
  };
  return (1 - place.weight) * delay(place.below) +
         place.weight * delay(place.above);
}

void StepSampler::DrawComputes(std::span<double> work) {
  const ComputeModel& computes = model_.computes;
  const size_t components = computes.shape.components;
  const Place& place =
      places_[static_cast<size_t>(model_.closing.compute_draw)];
  for (size_t c = 0; c < components; ++c) {
    effect_[c] = std::exp(
        (1 - place.weight) *
            computes.step_effect[place.below * components + c] +
        place.weight * computes.step_effect[place.above * components + c]);
  }
  for (size_t d = 0; d < computes.shape.replicas; ++d) {
    for (const Bundle& bundle : computes.bundles) DrawBundle(bundle, d, work);
  }
}

void StepSampler::DrawBundle(const Bundle& bundle, size_t replica,
                             std::span<double> work) {
  const TableShape& shape = model_.computes.shape;
  const size_t m = shape.microbatches;
  const auto any_replica = [&] {
    return model_.computes.own_rest[replica] ? replica
                                             : alike_[Below(alike_.size())];
  };
  size_t step = Below(shape.steps), from = any_replica();
  const bool whole = bundle.keeps_order || bundle.keeps_step;
  if (whole && !bundle.keeps_order) {
    for (size_t i = m; i > 1; --i) std::swap(order_[i - 1], order_[Below(i)]);
  }
  for (size_t i = 0; i < m; ++i) {
    size_t source = i;
    if (whole && !bundle.keeps_order) source = order_[i];
    if (!whole) {
      step = Below(shape.steps);
      from = any_replica();
      source = Below(m);
    }
    for (const size_t c : bundle.components) {
      const auto operation = static_cast<size_t>(
          model_.table.operations[shape.Row(0, replica, c) + i]);
      work[operation] = typical_[replica * shape.components + c] * effect_[c] *
                        rest_[shape.Row(step, from, c) + source];
    }
  }
}

void StepSampler::DrawClosing(std::span<double> work) {
  for (const ClosingUnit& unit : model_.closing.units) {
    Place place;
    if (unit.step_draw == kOwnStep) {
      place.below = place.above = Below(ranked_.size());
    } else {
      place = places_[static_cast<size_t>(unit.step_draw)];
    }
    for (const int32_t operation : unit.operations)
      work[static_cast<size_t>(operation)] = At(place, operation);
  }
}

void StepSampler::DrawTransfers(std::span<double> work) {
  for (const TransferPool& pool : model_.closing.transfers) {
    const auto first = static_cast<size_t>(pool.first);
    const auto count = static_cast<size_t>(pool.count);
    for (size_t i = first; i < first + count; ++i) {
      const ObservedStep& step =
          model_.observed.steps[Below(model_.observed.steps.size())];
      work[i] = step.work[first + Below(count)];
    }
  }
}

}  // namespace prism::trace
