// Tables of measurements: comma-separated, with a heading.
//
// A row that is damaged is named with file, line, column, value and what is
// accepted, and the next one is read. Not thread-safe.
#ifndef PRISM_CLIENT_VALIDATE_CSV_H_
#define PRISM_CLIENT_VALIDATE_CSV_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/violations.h"

namespace prism::validate {

// One row. Every getter adds what is wrong to the row's violations and returns
// something harmless then.
class CsvRow {
 public:
  // Requires: the arguments outlive the row. `place` is "multi_node.csv:12".
  CsvRow(const std::vector<std::string>& heading,
         const std::vector<std::string>& cells, std::string place);

  const std::string& place() const { return place_; }
  bool ok() const { return wrong_.empty(); }
  const base::Violations& wrong() const { return wrong_; }

  bool Has(std::string_view column) const;  // and its cell is not blank

  std::string Text(std::string_view column);
  std::string TextOr(std::string_view column, std::string_view fallback) const;
  // A whole number from 1 to 2^32 - 1; "48.0" is one. A blank cell, or a column
  // that is missing, is `fallback`, where there is one.
  uint32_t Count(std::string_view column);
  uint32_t CountOr(std::string_view column, uint32_t fallback);
  // Above 0 and finite.
  double Positive(std::string_view column);
  // 0 or 1, true or false in any case.
  bool Flag(std::string_view column);

  // The row cannot be used as `column` says so.
  void Fail(std::string_view column, std::string description);

 private:
  // The cell; nullptr where column or cell are missing or the cell is blank.
  const std::string* Find(std::string_view column) const;
  const std::string* Require(std::string_view column);

  const std::vector<std::string>& heading_;
  const std::vector<std::string>& cells_;
  std::string place_;
  base::Violations wrong_;
};

// Calls `read` for each row of `text`, blank lines left out, and adds what is
// wrong with rows to `wrong`, paths beginning with `name` and the line. A table
// that lacks one of `columns` has no rows.
void ForEachRow(const std::string& name, const std::string& text,
                const std::vector<std::string>& columns,
                const std::function<void(CsvRow&)>& read,
                base::Violations& wrong);

}  // namespace prism::validate

#endif  // PRISM_CLIENT_VALIDATE_CSV_H_
