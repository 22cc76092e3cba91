// JSON text to and from trees.
#ifndef PRISM_CORE_QUERY_JSON_TEXT_H_
#define PRISM_CORE_QUERY_JSON_TEXT_H_

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "core/query/node.h"

namespace prism::query {

// Parses `text`, strictly: no comments, nothing after the value.
//
// Errors: INVALID_ARGUMENT with the line and column; OUT_OF_RANGE where a
// number is too large for a double.
absl::StatusOr<Node> ParseJson(std::string_view text);

// `node` as indented JSON. Numbers read back to the same bits; those that JSON
// cannot say (infinity, NaN) are null.
std::string FormatJson(const Node& node);

// `text` as a JSON string, quotes included. Bytes that are not UTF-8 are
// replaced by U+FFFD.
std::string QuoteJson(std::string_view text);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_JSON_TEXT_H_
