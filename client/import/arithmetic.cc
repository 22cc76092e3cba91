#include "client/import/arithmetic.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>

#include <limits>

namespace prism::import {
namespace {

// Parentheses and signs nest at most this deep.
constexpr int kDeepest = 100;

using Value = std::optional<int64_t>;

Value Apply(char operation, int64_t left, int64_t right) {
  int64_t result = 0;
  const bool divides = operation == '/' || operation == '%';
  if (divides && (right == 0 || (right == -1 && left == INT64_MIN)))
    return std::nullopt;
  switch (operation) {
    case '+':
      return __builtin_add_overflow(left, right, &result) ? Value() : result;
    case '-':
      return __builtin_sub_overflow(left, right, &result) ? Value() : result;
    case '*':
      return __builtin_mul_overflow(left, right, &result) ? Value() : result;
    case '/':
      return left / right;
    default:
      return left % right;
  }
}

// Recursive descent: sum := product {(+|-) product} and so on. `failed_` ends
// everything.
class Evaluator {
 public:
  explicit Evaluator(std::string_view text) : text_(text) {}

  Value Evaluate() {
    const int64_t value = Sum();
    return failed_ || Next() != '\0' ? Value() : value;
  }

 private:
  int64_t Sum() { return Chain("+-", &Evaluator::Product); }
  int64_t Product() { return Chain("*/%", &Evaluator::Factor); }

  int64_t Chain(std::string_view operations, int64_t (Evaluator::*operand)()) {
    int64_t value = (this->*operand)();
    while (!failed_ && Next() != '\0' &&
           operations.find(Next()) != std::string_view::npos) {
      const char operation = text_[at_++];
      const int64_t right = (this->*operand)();
      value = Keep(failed_ ? Value() : Apply(operation, value, right));
    }
    return value;
  }

  int64_t Factor() {
    if (++depth_ > kDeepest) failed_ = true;
    const int64_t value = failed_ ? 0 : SignedFactor();
    --depth_;
    return value;
  }

  int64_t SignedFactor() {
    switch (Next()) {
      case '-':
        ++at_;
        return Keep(Apply('-', 0, Factor()));
      case '+':
        ++at_;
        return Factor();
      case '(': {
        ++at_;
        const int64_t value = Sum();
        if (Next() != ')') return Keep(std::nullopt);
        ++at_;
        return value;
      }
      default:
        return Number();
    }
  }

  int64_t Number() {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (absl::ascii_isalnum(text_[at_]) || text_[at_] == '_')) {
      ++at_;
    }
    return Keep(ParseInteger(text_.substr(begin, at_ - begin)));
  }

  int64_t Keep(Value value) {
    failed_ = failed_ || !value.has_value();
    return value.value_or(0);
  }

  // The next character that is not white space; '\0' at the end.
  char Next() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace

std::optional<int64_t> EvaluateArithmetic(std::string_view text) {
  return Evaluator(text).Evaluate();
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool sign = i == 0 && (text[i] == '-' || text[i] == '+');
    const bool separator = text[i] == '_' && i > 0 && i + 1 < text.size() &&
                           absl::ascii_isdigit(text[i - 1]) &&
                           absl::ascii_isdigit(text[i + 1]);
    if (!sign && !separator && !absl::ascii_isdigit(text[i]))
      return std::nullopt;
    if (!separator) digits += text[i];
  }
  int64_t value = 0;
  if (!absl::SimpleAtoi(digits, &value)) return std::nullopt;
  return value;
}

}  // namespace prism::import
