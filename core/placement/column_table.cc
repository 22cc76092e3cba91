#include "core/placement/column_table.h"

#include <algorithm>
#include <cstring>

#include "core/placement/budgets.h"

namespace prism::placement {
namespace {

constexpr size_t kFirstSlots = 1024;

}  // namespace

ColumnTable::ColumnTable(const JobModel& model, int draw_rows)
    : model_(model),
      stages_(model.layout().stages()),
      draw_rows_(draw_rows),
      slots_(kFirstSlots, -1) {}

// FNV-1a over words.
size_t ColumnTable::HashOf(int pipeline, const float* slowdown) const {
  uint64_t hash = 0xcbf29ce484222325u ^ static_cast<uint32_t>(pipeline);
  for (int s = 0; s < stages_; ++s) {
    uint32_t bits;
    std::memcpy(&bits, &slowdown[s], sizeof(bits));
    hash = (hash ^ bits) * 0x100000001b3u;
  }
  return hash ^ (hash >> 32);
}

bool ColumnTable::Equals(int32_t column, int pipeline,
                         const float* slowdown) const {
  return pipeline_[column] == pipeline &&
         std::equal(slowdown, slowdown + stages_,
                    &slowdown_[size_t(column) * stages_]);
}

void ColumnTable::Grow() {
  slots_.assign(2 * slots_.size(), -1);
  const size_t mask = slots_.size() - 1;
  for (int32_t column = 0; column < size(); ++column) {
    size_t slot =
        HashOf(pipeline_[column], &slowdown_[size_t(column) * stages_]) & mask;
    while (slots_[slot] >= 0) slot = (slot + 1) & mask;
    slots_[slot] = column;
  }
}

int32_t ColumnTable::IndexOf(int pipeline,
                             std::span<const float> slowdown_of_stage) {
  if (2 * pipeline_.size() >= slots_.size()) Grow();
  const size_t mask = slots_.size() - 1;
  size_t slot = HashOf(pipeline, slowdown_of_stage.data()) & mask;
  while (slots_[slot] >= 0) {
    if (Equals(slots_[slot], pipeline, slowdown_of_stage.data())) {
      return slots_[slot];
    }
    slot = (slot + 1) & mask;
  }
  const int32_t column = slots_[slot] = size();
  pipeline_.push_back(pipeline);
  slowdown_.insert(slowdown_.end(), slowdown_of_stage.begin(),
                   slowdown_of_stage.end());
  ends_.resize(slowdown_.size());
  means_.resize(slowdown_.size());
  state_.push_back(kNew);
  pending_.push_back(column);
  return column;
}

void ColumnTable::ComputeBlock(std::span<const int32_t> columns) {
  std::vector<float> slowdown(size_t(stages_) * kColumns);
  std::vector<float> clock(slowdown.size());
  for (int c = 0; c < kColumns; ++c) {
    const int32_t column = columns[std::min<size_t>(c, columns.size() - 1)];
    for (int s = 0; s < stages_; ++s) {
      slowdown[s * kColumns + c] = slowdown_[size_t(column) * stages_ + s];
    }
  }
  model_.response().Ends(model_.pipeline(pipeline_[columns.front()]),
                         slowdown.data(), workspace_, clock.data());
  for (size_t c = 0; c < columns.size(); ++c) {
    for (int s = 0; s < stages_; ++s) {
      ends_[size_t(columns[c]) * stages_ + s] = clock[s * kColumns + c];
    }
    state_[columns[c]] = kKnown;
  }
}

absl::Status ColumnTable::ComputeEnds(const base::Budget& budget) {
  // Columns of one pipeline stand together; among them the order is theirs.
  std::stable_sort(
      pending_.begin(), pending_.end(),
      [this](int32_t a, int32_t b) { return pipeline_[a] < pipeline_[b]; });
  for (size_t first = 0; first < pending_.size();) {
    if (absl::Status status = StatusOf(budget); !status.ok()) return status;
    size_t end = first + 1;
    while (end < pending_.size() && end < first + kColumns &&
           pipeline_[pending_[end]] == pipeline_[pending_[first]]) {
      ++end;
    }
    ComputeBlock({&pending_[first], end - first});
    first = end;
  }
  pending_.clear();
  return absl::OkStatus();
}

void ColumnTable::WantMean(int32_t column) {
  if (state_[column] != kKnown) return;
  state_[column] = kMeanWanted;
  wanted_.push_back(column);
}

absl::Status ColumnTable::ComputeMeans(const base::Budget& budget) {
  for (const int32_t column : wanted_) {
    if (absl::Status status = StatusOf(budget); !status.ok()) return status;
    model_.response().MeanEnds(model_.pipeline(pipeline_[column]),
                               slowdown(column), draw_rows_, workspace_,
                               &means_[size_t(column) * stages_]);
    state_[column] = kMeanKnown;
  }
  wanted_.clear();
  return absl::OkStatus();
}

}  // namespace prism::placement
