// The arithmetic of shell scripts: $((A * B + 3)).
#ifndef PRISM_CLIENT_IMPORT_ARITHMETIC_H_
#define PRISM_CLIENT_IMPORT_ARITHMETIC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace prism::import {

// The value of `text`: 64-bit integers, + - * / %, unary + and -, and
// parentheses. Nothing for other syntax, division by zero and overflow.
std::optional<int64_t> EvaluateArithmetic(std::string_view text);

// `text` as an integer: digits with an optional sign, "_" allowed between
// digits as in Python.
std::optional<int64_t> ParseInteger(std::string_view text);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_ARITHMETIC_H_
