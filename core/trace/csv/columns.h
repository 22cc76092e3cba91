// Columns: what the fields of a row of an operator trace mean.
//
// The columns are found by the names in the heading, in any order:
//
//   dp_rank   replica              seq_id  sequence (may be missing)
//   stage     stage                mc      chunk (may be missing)
//   step      number of the step   gmc     virtual stage (may be missing)
//   optype    kind                 mb_id   micro-batch (may be missing)
//   start_ts  start, seconds       rank    first rank (may be missing)
//   duration  seconds
//
// All other columns are ignored, and named. Immutable once made.
#ifndef PRISM_CORE_TRACE_CSV_COLUMNS_H_
#define PRISM_CORE_TRACE_CSV_COLUMNS_H_

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/trace/damage.h"
#include "core/trace/trace.h"

namespace prism::trace {

class Columns {
 public:
  // Errors: INVALID_ARGUMENT naming all required columns that are missing.
  static absl::StatusOr<Columns> Find(std::span<const std::string_view> heading,
                                      DamageLog* damage);

  struct Row {
    int64_t step = 0;
    Operation operation;
  };

  // What `fields` hold; nothing where a field is unusable, which goes to
  // `damage` (may be null). Replicas and stages are below `sizes`, where it
  // is known. A sequence that is not recorded is kNone.
  std::optional<Row> Read(int64_t line,
                          std::span<const std::string_view> fields,
                          const std::optional<Sizes>& sizes,
                          DamageLog* damage) const;

 private:
  enum Column {
    kReplica,
    kStage,
    kStep,
    kKind,
    kStart,
    kDuration,
    kRequired,  // those above
    kRank = kRequired,
    kSequence,
    kChunk,
    kMicrobatch,
    kVirtualStage,
    kColumns,
  };
  static constexpr int kMissing = -1;
  static const std::array<std::string_view, kColumns> kNames;

  struct Reader;

  std::array<int, kColumns> places_{};
  size_t width_ = 0;
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_CSV_COLUMNS_H_
