// StepRecord: all that a block of steps does, kept to be gone through
// backwards.
#ifndef PRISM_CORE_EXPLAIN_STEP_RECORD_H_
#define PRISM_CORE_EXPLAIN_STEP_RECORD_H_

#include <cstddef>
#include <vector>

#include "core/step/compiled_graph.h"
#include "core/step/step_observer.h"

namespace prism::explain {

// One operation or closing of a stage. Rows are [lane][element].
struct RecordedEntry {
  int stage = 0;
  bool closing = false;
  // What ran before it on the stage: an index, or step::kAbsent.
  int before = step::kAbsent;
  // What sent its input, and the row of its arrival; kAbsent: it had none.
  int sender = step::kAbsent;
  size_t arrival = 0;
  // When its ranks began, and what they ran: row i + 1 is when task i ended.
  size_t first_row = 0;
  std::vector<const step::Task*> tasks;
};

// Observes one block at a time; not thread-safe. Keeps 8 bytes for each task,
// lane and element.
class StepRecord final : public step::StepObserver {
 public:
  // Requires: `compiled` outlives the record, all programs are chains.
  explicit StepRecord(const step::CompiledGraph& compiled);

  void Clear();

  const std::vector<RecordedEntry>& entries() const { return entries_; }
  const step::Elements& elements() const { return *elements_; }
  // The last of a stage, or kAbsent.
  int last(int stage) const { return last_[stage]; }
  double At(size_t row, int lane, size_t element) const {
    return rows_[(row * lanes_ + lane) * stride_ + element];
  }
  // When the entry's ranks are done.
  size_t EndRow(const RecordedEntry& entry) const {
    return entry.first_row + entry.tasks.size();
  }

  void BlockBegins(const step::Elements& elements) override;
  void OperationBegins(const step::PlannedOperation& planned,
                       const double* free, const double* arrival) override;
  void OperationEnds(const step::PlannedOperation& planned, const double* end,
                     const double* arrival) override;
  void ClosingBegins(int stage, const double* begin) override;
  void ClosingEnds(int stage, const double* end) override;
  void TaskEnds(const step::Task& task, const double* ready,
                const double* end) override;

 private:
  RecordedEntry& Begin(int stage);
  // Keeps rows of all lanes; returns their index.
  size_t Keep(const double* rows);

  const step::CompiledGraph& compiled_;
  const size_t lanes_;
  const step::Elements* elements_ = nullptr;
  size_t stride_ = 0;
  std::vector<RecordedEntry> entries_;
  std::vector<int> last_;  // by stage
  std::vector<int> sent_;  // by slot: the entry that sends to it
  std::vector<double> rows_;
};

}  // namespace prism::explain

#endif  // PRISM_CORE_EXPLAIN_STEP_RECORD_H_
