// Tables of text.
#ifndef PRISM_CLIENT_RENDER_TABLE_H_
#define PRISM_CLIENT_RENDER_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

namespace prism::render {

using Row = std::vector<std::string>;

// Columns as wide as their widest cell, two spaces between them, `margin`
// before each line; the first column and those in `left` begin on the left, the
// others end on the right.
//
// Requires: not empty, all rows as long as the first.
std::string Table(const std::vector<Row>& rows,
                  const std::vector<size_t>& left = {},
                  std::string_view margin = "  ");

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_TABLE_H_
