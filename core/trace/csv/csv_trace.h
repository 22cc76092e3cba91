// CsvTrace: an operator trace in comma-separated text as a StepSource.
//
// The text is read in blocks. A trace of up to kMostHeld operations is kept
// once read; a longer one is read again for every ForEach and only the steps
// under way are held. Steps whose rows lie apart are put together: as many at
// a time as fit, with a reading of the text for each such batch.
//
// What is wrong with rows is logged once, by Open; operations that are there
// twice by Open or, in a long trace, the first ForEach. Not thread-safe.
#ifndef PRISM_CORE_TRACE_CSV_CSV_TRACE_H_
#define PRISM_CORE_TRACE_CSV_CSV_TRACE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/trace/damage.h"
#include "core/trace/step_order.h"
#include "core/trace/trace.h"

namespace prism::trace {

// Bytes that can be read again and again.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // All bytes in order, in blocks of any size. Stops at the first error, be it
  // of `visit` or of reading, and returns it.
  virtual absl::Status ForEachBlock(
      const std::function<absl::Status(std::string_view)>& visit) = 0;
};

class CsvTrace final : public StepSource {
 public:
  static constexpr int64_t kMostHeld = 2'000'000;

  // Reads all of `bytes` once. `sizes` is what is known of the job; without
  // it, sizes are what the rows show, tensor and context sizes 1. Both
  // `bytes` and `damage` must outlive the trace. `most_held`: see above.
  //
  // Errors: those of `bytes`; INVALID_ARGUMENT where the heading is missing
  // or lacks a required column.
  static absl::StatusOr<std::unique_ptr<CsvTrace>> Open(
      ByteSource& bytes, std::optional<Sizes> sizes, DamageLog& damage,
      int64_t most_held = kMostHeld);

  const Sizes& sizes() const override { return sizes_; }
  absl::Status ForEach(
      const std::function<absl::Status(const Step&)>& visit) override;

  int64_t steps() const { return static_cast<int64_t>(index_.size()); }
  // Usable rows.
  int64_t operations() const { return operations_; }

 private:
  struct IndexEntry {
    int64_t step = 0;
    int64_t operations = 0;
  };
  struct FirstReading;

  CsvTrace(ByteSource& bytes, DamageLog& damage, int64_t most_held)
      : bytes_(bytes), damage_(damage), most_held_(most_held) {}

  absl::Status ReadFirst();
  absl::Status ReadAgain(const std::function<absl::Status(const Step&)>& visit);
  void Order(Step& step) { twice_ += PutInOrder(step); }
  void LogTwice();
  absl::Status StreamSteps(
      const std::function<absl::Status(const Step&)>& visit);
  absl::Status GatherSteps(
      size_t first, size_t last,
      const std::function<absl::Status(const Step&)>& visit);

  ByteSource& bytes_;
  DamageLog& damage_;
  int64_t most_held_;
  std::optional<Sizes> known_;
  Sizes sizes_;
  std::vector<IndexEntry> index_;  // steps in the order of their first rows
  int64_t operations_ = 0;
  bool contiguous_ = true;
  bool held_ = false;
  std::vector<Step> steps_;  // where they are held
  int64_t twice_ = 0;        // operations taken out
  bool logged_twice_ = false;
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_CSV_CSV_TRACE_H_
