#include "client/render/table.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "client/render/bars.h"

namespace prism::render {

std::string Table(const std::vector<Row>& rows, const std::vector<size_t>& left,
                  std::string_view margin) {
  std::vector<int> widths(rows.front().size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line(margin);
    for (size_t i = 0; i < row.size(); ++i) {
      const bool begins_left =
          i == 0 || std::find(left.begin(), left.end(), i) != left.end();
      absl::StrAppend(&line, i == 0 ? "" : "  ",
                      begins_left ? PadRight(row[i], widths[i])
                                  : PadLeft(row[i], widths[i]));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

}  // namespace prism::render
