#include <absl/strings/numbers.h>

#include <limits>

#include "core/query/yaml_text.h"

namespace prism::query {
namespace {

bool IsNull(const std::string& text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" ||
         text == "NULL";
}

bool IsTrue(const std::string& text) {
  return text == "true" || text == "True" || text == "TRUE";
}

bool IsFalse(const std::string& text) {
  return text == "false" || text == "False" || text == "FALSE";
}

bool IsNan(const std::string& text) {
  return text == ".nan" || text == ".NaN" || text == ".NAN";
}

// .inf and its kin, with the sign; 0 where it is none.
double Infinity(std::string text) {
  double sign = 1;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    if (text[0] == '-') sign = -1;
    text.erase(0, 1);
  }
  if (text != ".inf" && text != ".Inf" && text != ".INF") return 0;
  return sign * std::numeric_limits<double>::infinity();
}

Node ParseNumber(const std::string& text) {
  int64_t integer = 0;
  uint64_t large = 0;
  double number = 0;
  if (absl::SimpleAtoi(text, &integer)) return {integer};
  if (absl::SimpleAtoi(text, &large)) return {large};
  if (absl::SimpleAtod(text, &number)) return {number};
  return {text};
}

bool LooksLikeNumber(const std::string& text) {
  return text.find_first_not_of("0123456789+-.eE") == std::string::npos &&
         text.find_first_of("0123456789") != std::string::npos;
}

}  // namespace

Node ParsePlainScalar(const std::string& text) {
  if (IsNull(text)) return {};
  if (IsTrue(text)) return {true};
  if (IsFalse(text)) return {false};
  if (IsNan(text)) return {std::numeric_limits<double>::quiet_NaN()};
  if (const double infinity = Infinity(text); infinity != 0) return {infinity};
  if (!LooksLikeNumber(text)) return {text};
  return ParseNumber(text);
}

}  // namespace prism::query
