// YAML text to and from trees.
//
// Plain scalars mean what the core schema of YAML 1.2 says: null, true and
// false, decimal numbers, .inf and .nan; all else is text.
#ifndef PRISM_CORE_QUERY_YAML_TEXT_H_
#define PRISM_CORE_QUERY_YAML_TEXT_H_

#include <absl/status/statusor.h>

#include <string>

#include "core/query/node.h"

namespace prism::query {

// Parses the one document in `text`. Aliases are expanded, within the limits
// of TreeBuilder.
//
// Errors: INVALID_ARGUMENT with the line and column.
absl::StatusOr<Node> ParseYaml(const std::string& text);

// The value of a plain scalar.
Node ParsePlainScalar(const std::string& text);

// `node` as block YAML that ParseYaml reads back.
std::string FormatYaml(const Node& node);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_YAML_TEXT_H_
