// Change: what if a recorded job were different?
//
//   scale:SOURCE=FACTOR   the source's operations take FACTOR times as long
//   freeze:SOURCE         they take what is typical of their kind
//   replace-rank:RANK     the worker of this rank does as its stage's others
//   rebalance-stages      all stages compute for the same time
//   rebalance-stages:L,L  or as nearly as whole layers allow, of which each
//                         stage has the stated number now
//   sort-sequences        micro-batches are dealt out anew: the longest first,
//                         each to the replica with the least to do
//
// A SOURCE is a kind of operation as traces spell it, "forward", "backward",
// "compute" (both), "communication", "forward-pp-comm", "backward-pp-comm",
// "stage:N", "rank:N" (data rank) or "worker:N" (first rank). Plain values.
#ifndef PRISM_CORE_TRACE_REPLAY_CHANGE_H_
#define PRISM_CORE_TRACE_REPLAY_CHANGE_H_

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/replay/typical.h"
#include "core/trace/trace.h"

namespace prism::trace {

// Operations by what they are or who runs them.
struct Source {
  std::string name;
  // By kind. Those of a worker, stage or replica are of all kinds.
  std::array<bool, kOperationKinds> kinds{};
  std::optional<int32_t> stage, replica, rank;
};

struct Change {
  enum class Type : uint8_t {
    kScale,
    kFreeze,
    kReplaceRank,
    kRebalanceStages,
    kSortSequences,
  };

  std::string text;  // as it was asked for
  Type type = Type::kScale;
  Source source;            // kScale, kFreeze
  double factor = 1;        // kScale, from 0
  int32_t rank = 0;         // kReplaceRank
  std::vector<int> layers;  // kRebalanceStages; empty: work is divisible
};

// Errors: INVALID_ARGUMENT with what is wrong with `text` and what is taken.
absl::StatusOr<Change> ParseChange(std::string_view text);

// Changes applied one after the other to recorded steps. `Prepare` finds what
// each of them comes to for a trace. Immutable and thread-safe.
class Changes {
 public:
  // Errors: INVALID_ARGUMENT where a stage, rank or number of layers does not
  // fit the job.
  static absl::StatusOr<Changes> Prepare(std::vector<Change> changes,
                                         const Sizes& sizes,
                                         const Typical& typical);

  bool empty() const { return changes_.empty(); }
  const std::vector<Change>& changes() const { return changes_; }
  // What rebalancing stages comes to, a sentence each; empty without it.
  const std::vector<std::string>& suggestions() const { return suggestions_; }

  // The work of the changed `step`, by operation.
  std::vector<double> Apply(const RecordedStep& step) const;

 private:
  Changes(std::vector<Change> changes, const Sizes& sizes,
          const Typical& typical)
      : changes_(std::move(changes)), sizes_(sizes), typical_(typical) {}

  absl::Status Check(const Change& change) const;
  absl::Status PrepareRebalance(const Change& change);
  std::optional<WorkerKey> WorkerOfRank(int32_t rank) const;
  static bool IsIn(const Source& source, std::optional<WorkerKey> worker,
                   const Operation& operation);
  void ApplyOne(const Change& change, const RecordedStep& step,
                std::vector<double>& work) const;
  void ReplaceRank(int32_t rank, const Step& step,
                   std::vector<double>& work) const;

  std::vector<Change> changes_;
  Sizes sizes_;
  Typical typical_;
  std::vector<double> stage_factors_;  // of rebalancing
  std::vector<std::string> suggestions_;
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_CHANGE_H_
