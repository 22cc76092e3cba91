// ColumnTable: the ends of replicas, each computed once.
//
// A column is a replica: its way of communicating and its stages' slowdowns.
// Equal replicas of all placements share one.
#ifndef PRISM_CORE_PLACEMENT_COLUMN_TABLE_H_
#define PRISM_CORE_PLACEMENT_COLUMN_TABLE_H_

#include <absl/status/status.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/budget.h"
#include "core/placement/job_model.h"

namespace prism::placement {

// Not thread-safe.
class ColumnTable final {
 public:
  // Requires: `model` outlives it.
  ColumnTable(const JobModel& model, int draw_rows);

  // Index of the column, added where it is new.
  int32_t IndexOf(int pipeline, std::span<const float> slowdown_of_stage);

  // Computes the ends without chance of all columns that lack them.
  //
  // Errors: CANCELLED, DEADLINE_EXCEEDED.
  absl::Status ComputeEnds(const base::Budget& budget);

  // Asks for the mean ends of a column. Computes what was asked for.
  void WantMean(int32_t column);
  absl::Status ComputeMeans(const base::Budget& budget);

  bool has_mean(int32_t column) const { return state_[column] == kMeanKnown; }
  // By stage. Requires: they were computed.
  const float* ends(int32_t column) const { return &ends_[column * stages_]; }
  const float* means(int32_t column) const { return &means_[column * stages_]; }
  std::span<const float> slowdown(int32_t column) const {
    return {&slowdown_[column * stages_], static_cast<size_t>(stages_)};
  }
  int32_t size() const { return static_cast<int32_t>(pipeline_.size()); }

 private:
  enum State : uint8_t { kNew, kKnown, kMeanWanted, kMeanKnown };

  size_t HashOf(int pipeline, const float* slowdown) const;
  bool Equals(int32_t column, int pipeline, const float* slowdown) const;
  void Grow();
  void ComputeBlock(std::span<const int32_t> columns);

  const JobModel& model_;
  const int stages_;
  const int draw_rows_;
  std::vector<int32_t> pipeline_;
  std::vector<float> slowdown_;
  std::vector<float> ends_;
  std::vector<float> means_;
  std::vector<State> state_;
  std::vector<int32_t> pending_;
  std::vector<int32_t> wanted_;
  // Open addressing; -1 where free. A power of two.
  std::vector<int32_t> slots_;
  ReplicaResponse::Workspace workspace_;
};

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_COLUMN_TABLE_H_
