#include "core/query/plain_json.h"

#include <charconv>
#include <string>
#include <utility>

namespace prism::query {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class PlainJsonParser {
 public:
  explicit PlainJsonParser(std::string_view text)
      : next_(text.data()), end_(text.data() + text.size()) {}

  std::optional<Node> Parse() {
    if (!ReadValue() || Peek() != '\0' || next_ != end_) return std::nullopt;
    return std::move(tree_.root());
  }

 private:
  // The next byte that is no space; 0 at the end.
  char Peek() {
    while (next_ != end_ && (*next_ == ' ' || *next_ == '\n' ||
                             *next_ == '\r' || *next_ == '\t')) {
      ++next_;
    }
    return next_ == end_ ? '\0' : *next_;
  }

  bool Take(char expected) {
    if (Peek() != expected || next_ == end_) return false;
    ++next_;
    return true;
  }

  // The tree's limit on depth ends the recursion.
  bool ReadValue() {
    switch (Peek()) {
      case '{':
        return ReadMap();
      case '[':
        return ReadList();
      case '"': {
        std::string text;
        return ReadString(text) && tree_.Add(std::move(text));
      }
      case 't':
        return ReadWord("true") && tree_.Add(true);
      case 'f':
        return ReadWord("false") && tree_.Add(false);
      case 'n':
        return ReadWord("null") && tree_.Add(Node::Null());
      default:
        return ReadNumber();
    }
  }

  bool ReadMap() {
    ++next_;
    if (!tree_.BeginMap()) return false;
    if (!Take('}')) {
      do {
        std::string key;
        if (Peek() != '"' || !ReadString(key) || !Take(':')) return false;
        tree_.Key(std::move(key));
        if (!ReadValue()) return false;
      } while (Take(','));
      if (!Take('}')) return false;
    }
    tree_.End();
    return true;
  }

  bool ReadList() {
    ++next_;
    if (!tree_.BeginList()) return false;
    if (!Take(']')) {
      do {
        if (!ReadValue()) return false;
      } while (Take(','));
      if (!Take(']')) return false;
    }
    tree_.End();
    return true;
  }

  bool ReadString(std::string& text) {
    const char* first = ++next_;
    while (next_ != end_ && *next_ != '"') {
      if (*next_ < ' ' || *next_ > '~' || *next_ == '\\') return false;
      ++next_;
    }
    if (next_ == end_) return false;
    text.assign(first, next_++);
    return true;
  }

  bool ReadWord(std::string_view word) {
    if (!std::string_view(next_, end_).starts_with(word)) return false;
    next_ += word.size();
    return true;
  }

  bool SkipDigits() {
    const char* first = next_;
    while (next_ != end_ && IsDigit(*next_)) ++next_;
    return next_ != first;
  }

  bool Skip(std::string_view characters) {
    if (next_ == end_ || characters.find(*next_) == characters.npos) {
      return false;
    }
    ++next_;
    return true;
  }

  bool ReadNumber() {
    const char* first = next_;
    Skip("-");
    // No digits follow a leading 0.
    if (!Skip("0") && !SkipDigits()) return false;
    bool is_integer = true;
    if (Skip(".")) {
      is_integer = false;
      if (!SkipDigits()) return false;
    }
    if (Skip("eE")) {
      is_integer = false;
      Skip("+-");
      if (!SkipDigits()) return false;
    }
    return is_integer ? AddNumber<int64_t>(first) : AddNumber<double>(first);
  }

  template <typename Number>
  bool AddNumber(const char* first) {
    Number number = 0;
    const auto [end, error] = std::from_chars(first, next_, number);
    return error == std::errc() && end == next_ && tree_.Add(number);
  }

  const char* next_;
  const char* const end_;
  TreeBuilder tree_;
};

}  // namespace

std::optional<Node> ParsePlainJson(std::string_view text) {
  return PlainJsonParser(text).Parse();
}

}  // namespace prism::query
