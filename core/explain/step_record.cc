#include "core/explain/step_record.h"

#include <algorithm>

namespace prism::explain {

using step::kAbsent;
using step::PlannedOperation;

StepRecord::StepRecord(const step::CompiledGraph& compiled)
    : compiled_(compiled),
      lanes_(static_cast<size_t>(compiled.graph->grid.lanes)) {
  Clear();
}

void StepRecord::Clear() {
  entries_.clear();
  rows_.clear();
  last_.assign(compiled_.graph->grid.stages, kAbsent);
  sent_.assign(compiled_.plan.slots, kAbsent);
}

void StepRecord::BlockBegins(const step::Elements& elements) {
  elements_ = &elements;
  stride_ = elements.stride();
}

size_t StepRecord::Keep(const double* rows) {
  const size_t index = rows_.size() / (lanes_ * stride_);
  rows_.insert(rows_.end(), rows, rows + lanes_ * stride_);
  return index;
}

RecordedEntry& StepRecord::Begin(int stage) {
  RecordedEntry& entry = entries_.emplace_back();
  entry.stage = stage;
  entry.before = last_[stage];
  last_[stage] = static_cast<int>(entries_.size()) - 1;
  return entry;
}

void StepRecord::OperationBegins(const PlannedOperation& planned,
                                 const double* free, const double* arrival) {
  RecordedEntry& entry = Begin(planned.stage);
  if (arrival != nullptr) {
    entry.sender = sent_[planned.receives];
    entry.arrival = Keep(arrival);
  }
  entry.first_row = Keep(free);
  if (arrival == nullptr) return;
  double* begin = &rows_[entry.first_row * lanes_ * stride_];
  for (size_t i = 0; i < lanes_ * stride_; ++i) {
    begin[i] = std::max(begin[i], arrival[i]);
  }
}

void StepRecord::OperationEnds(const PlannedOperation& planned, const double*,
                               const double*) {
  if (planned.sends != kAbsent) sent_[planned.sends] = last_[planned.stage];
}

void StepRecord::ClosingBegins(int stage, const double* begin) {
  RecordedEntry& entry = Begin(stage);
  entry.closing = true;
  entry.first_row = Keep(begin);
}

void StepRecord::ClosingEnds(int, const double*) {}

void StepRecord::TaskEnds(const step::Task& task, const double*,
                          const double* end) {
  entries_.back().tasks.push_back(&task);
  Keep(end);
}

}  // namespace prism::explain
