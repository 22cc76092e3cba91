// A trace much larger than the memory that replaying it may take. 1 GiB of it
// with PRISM_TEST_SLOW set, else 48 MiB.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/trace/csv/csv_trace.h"
#include "core/trace/replay/replay.h"
#include "core/trace/testing/made_trace.h"

namespace prism::trace {
namespace {

constexpr int64_t kMegabyte = int64_t{1} << 20;

bool IsSlow() { return std::getenv("PRISM_TEST_SLOW") != nullptr; }

int64_t PeakBytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * int64_t{1024};
}

MadeJob Job() {
  MadeJob job;
  job.sizes = {.data = 16, .pipeline = 8};
  job.microbatches = 32;
  job.compute_seconds = [](const Operation& o) {
    return o.replica == 3 && o.stage == 5 ? 0.3 : 0.1 + 0.001 * o.microbatch;
  };
  return job;
}

// The rows of one step again and again, as steps that follow each other. They
// are made as they are read: none of them is kept.
class EndlessBytes final : public ByteSource {
 public:
  explicit EndlessBytes(int64_t bytes) : bytes_(bytes) {
    const std::string rows = CsvRows(MakeStep(Job(), 0));
    for (size_t at = 0; at < rows.size();) {
      const size_t end = rows.find('\n', at) + 1;
      size_t step = at;
      for (int commas = 0; commas < 3; ++step) commas += rows[step] == ',';
      // The step's number is the one digit after the third comma.
      rows_.emplace_back(rows.substr(at, step - at),
                         rows.substr(step + 1, end - step - 1));
      at = end;
    }
  }

  absl::Status ForEachBlock(
      const std::function<absl::Status(std::string_view)>& visit) override {
    absl::Status status = visit(CsvHeading());
    int64_t written = 0;
    std::string block;
    for (steps_ = 0; written < bytes_ && status.ok(); ++steps_) {
      block.clear();
      const std::string number = std::to_string(steps_);
      for (const auto& [before, after] : rows_) {
        block.append(before).append(number).append(after);
      }
      written += static_cast<int64_t>(block.size());
      status = visit(block);
    }
    return status;
  }

  int64_t steps() const { return steps_; }
  int64_t rows() const { return steps_ * static_cast<int64_t>(rows_.size()); }

 private:
  int64_t bytes_;
  int64_t steps_ = 0;
  std::vector<std::pair<std::string, std::string>> rows_;
};

TEST(StreamingTest, MemoryDoesNotGrowWithTheTrace) {
  EndlessBytes bytes((IsSlow() ? 1024 : 48) * kMegabyte);
  const int64_t before = PeakBytes();
  DamageLog damage;
  // Short ones, too, are not held here.
  const int64_t most_held = IsSlow() ? CsvTrace::kMostHeld : 50'000;
  const int64_t most_accounted = IsSlow() ? kMostAccounted : 30'000;
  auto trace = CsvTrace::Open(bytes, Job().sizes, damage, most_held);
  ASSERT_TRUE(trace.ok());
  const auto report = Replay(**trace, {}, damage, most_accounted);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(damage.empty());
  EXPECT_EQ(report->operations, bytes.rows());
  EXPECT_EQ(static_cast<int64_t>(report->steps.size()), bytes.steps());
  ASSERT_FALSE(report->culprits.empty());
  EXPECT_EQ(report->culprits[0].rfind("Data rank 3, stage 5", 0), 0);
  const int64_t grown = PeakBytes() - before;
  EXPECT_LT(grown, (IsSlow() ? 400 : 40) * kMegabyte);
  RecordProperty("megabytes", static_cast<int>(grown / kMegabyte));
}

}  // namespace
}  // namespace prism::trace
