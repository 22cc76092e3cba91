// Rows of comma-separated text, from bytes that come in blocks.
//
// A row ends where its line ends, whatever quotes say, so that damage never
// swallows the rows after it. Fields in double quotes may hold commas and
// doubled quotes. Not thread-safe.
#ifndef PRISM_CORE_TRACE_CSV_ROWS_H_
#define PRISM_CORE_TRACE_CSV_ROWS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prism::trace {

class RowSplitter {
 public:
  // A row without its line end. The fields live until the call returns.
  using Visit =
      std::function<void(int64_t line, std::span<const std::string_view>)>;

  // Longer lines are cut there: no memory for what cannot be a row.
  static constexpr size_t kMostLineBytes = size_t{1} << 16;

  explicit RowSplitter(Visit visit) : visit_(std::move(visit)) {}

  void Feed(std::string_view bytes);
  // The last line, if no line end follows it.
  void Finish();

 private:
  void Keep(std::string_view part);
  void Row(std::string_view line);
  void SplitQuoted(std::string_view line);

  Visit visit_;
  int64_t line_ = 0;
  std::string rest_;  // of a line whose end has not come yet
  std::vector<std::string_view> fields_;
  std::vector<std::string> unquoted_;
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_CSV_ROWS_H_
