// TextSource: text in memory as bytes to read, for tests and short traces.
#ifndef PRISM_CORE_TRACE_CSV_TEXT_SOURCE_H_
#define PRISM_CORE_TRACE_CSV_TEXT_SOURCE_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/trace/csv/csv_trace.h"

namespace prism::trace {

// Hands the text over in blocks of `block_bytes`. Not thread-safe.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text, size_t block_bytes = 1 << 16)
      : text_(std::move(text)), block_bytes_(block_bytes) {}

  absl::Status ForEachBlock(
      const std::function<absl::Status(std::string_view)>& visit) override {
    ++readings_;
    for (size_t at = 0; at < text_.size(); at += block_bytes_) {
      const absl::Status status =
          visit(std::string_view(text_).substr(at, block_bytes_));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // How often the text was read.
  int readings() const { return readings_; }

 private:
  std::string text_;
  size_t block_bytes_;
  int readings_ = 0;
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_CSV_TEXT_SOURCE_H_
