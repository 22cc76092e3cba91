#include "client/import/shell_script.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>

namespace prism::import {
namespace {

constexpr size_t kNone = std::string_view::npos;
// Quotes and expansions nest at most this deep; deeper is broken syntax.
constexpr int kDeepest = 40;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool EndsCommand(char c) {
  return c == '\n' || c == ';' || c == '&' || c == '|' || c == ')' || c == '}';
}

size_t Skip(std::string_view text, size_t at, int depth);

// Just after the unquoted `close` that ends what began before `at`.
size_t SkipTo(char close, std::string_view text, size_t at, int depth) {
  while (at < text.size() && text[at] != close) {
    at = text[at] == '(' && close == ')' ? SkipTo(')', text, at + 1, depth + 1)
                                         : Skip(text, at, depth + 1);
    if (at == kNone || depth > kDeepest) return kNone;
  }
  return at < text.size() ? at + 1 : kNone;
}

// In double quotes only expansions and backslashes keep their meaning.
size_t SkipDoubleQuoted(std::string_view text, size_t at, int depth) {
  while (at < text.size() && text[at] != '"') {
    at = text[at] == '\'' ? at + 1 : Skip(text, at, depth + 1);
    if (at == kNone) return kNone;
  }
  return at < text.size() ? at + 1 : kNone;
}

size_t SkipPast(char close, std::string_view text, size_t at) {
  const size_t end = text.find(close, at);
  return end == kNone ? kNone : end + 1;
}

size_t Skip(std::string_view text, size_t at, int depth) {
  if (depth > kDeepest) return kNone;
  const char next = at + 1 < text.size() ? text[at + 1] : '\0';
  switch (text[at]) {
    case '\\':
      return std::min(at + 2, text.size());
    case '\'':
    case '`':
      return SkipPast(text[at], text, at + 1);
    case '"':
      return SkipDoubleQuoted(text, at + 1, depth);
    case '$':
      if (next == '{') return SkipTo('}', text, at + 2, depth);
      if (next == '(') return SkipTo(')', text, at + 2, depth);
      return at + 1;
    default:
      return at + 1;
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Script Parse() && {
    while (at_ < text_.size()) ParseNext();
    return std::move(script_);
  }

 private:
  struct Target {
    std::string name;
    bool appends;
    size_t value_at;
  };

  void ParseNext() {
    if (std::isspace(static_cast<unsigned char>(text_[at_])) ||
        EndsCommand(text_[at_])) {
      ++at_;
    } else if (text_[at_] == '#') {
      ParseComment();
    } else if (!SkipKeyword()) {
      if (const std::optional<Target> target = FindTarget()) {
        ParseAssignment(*target);
      } else {
        ParseCommand();
      }
    }
  }

  void ParseComment() {
    const size_t end = LineEnd(at_);
    std::string_view line = text_.substr(at_, end - at_);
    at_ = end;
    constexpr std::string_view kMark = "#SBATCH";
    if (line.substr(0, kMark.size()) != kMark) return;
    line.remove_prefix(kMark.size());
    ParseDirective(line.substr(0, line.find(" #")));
  }

  // "--nodes=24", "--nodes 24" or "--exclusive".
  void ParseDirective(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.substr(0, 2) != "--") return;
    line.remove_prefix(2);
    const size_t split = std::min(line.find_first_of("= \t"), line.size());
    std::string_view value = line.substr(split);
    value.remove_prefix(
        std::min(value.find_first_not_of("= \t"), value.size()));
    value = value.substr(0, value.find_last_not_of(" \t\r") + 1);
    script_.directives.emplace_back(line.substr(0, split), value);
  }

  // Words that stand before an assignment without changing what it means.
  bool SkipKeyword() {
    static constexpr std::array<std::string_view, 9> kKeywords = {
        "export", "declare", "local", "readonly", "typeset",
        "then",   "else",    "do",    "{"};
    for (const std::string_view keyword : kKeywords) {
      const size_t end = at_ + keyword.size();
      if (text_.substr(at_, keyword.size()) != keyword || end >= text_.size() ||
          !IsBlank(text_[end])) {
        continue;
      }
      at_ = end;
      SkipFlags();
      return true;
    }
    return false;
  }

  // The "-x" of "declare -x NAME=VALUE".
  void SkipFlags() {
    while (at_ + 1 < text_.size()) {
      if (IsBlank(text_[at_])) {
        ++at_;
      } else if (text_[at_] == '-' && text_[at_ + 1] != '-') {
        while (at_ < text_.size() && std::isgraph(Byte(at_))) ++at_;
      } else {
        return;
      }
    }
  }

  std::optional<Target> FindTarget() const {
    size_t end = at_;
    while (end < text_.size() && (std::isalnum(Byte(end)) || text_[end] == '_'))
      ++end;
    const std::string_view name = text_.substr(at_, end - at_);
    if (!IsVariableName(name)) return std::nullopt;
    const bool appends = text_.substr(end, 2) == "+=";
    if (!appends && text_.substr(end, 1) != "=") return std::nullopt;
    return Target{std::string(name), appends, end + (appends ? 2u : 1u)};
  }

  void ParseAssignment(const Target& target) {
    at_ = target.value_at;
    const bool is_list = text_.substr(at_, 1) == "(";
    Statement statement{target.name, "", is_list, target.appends};
    if (is_list) {
      ++at_;
      statement.text = ParseWords(")", /*many=*/true);
      if (at_ < text_.size() && text_[at_] == ')') ++at_;
    } else {
      statement.text = ParseWords("\n;&|)}", /*many=*/false);
    }
    script_.statements.push_back(std::move(statement));
  }

  // Ends at ")" too: there ends a pattern of a case.
  void ParseCommand() {
    Statement statement{.text = ParseWords("\n;&|)", /*many=*/true)};
    SkipHereDocument(statement.text);
    if (!statement.text.empty())
      script_.statements.push_back(std::move(statement));
  }

  // The lines that `command` is given with <<WORD are no part of the script.
  void SkipHereDocument(const std::string& command) {
    const size_t mark = command.find("<<");
    if (mark == std::string::npos || command.substr(mark, 3) == "<<<") return;
    std::string word = command.substr(mark + 2);
    word.erase(0, std::min(word.find_first_not_of("-\\\"' \t"), word.size()));
    word.resize(std::min(word.find_first_of(" \t\"'>"), word.size()));
    if (word.empty() || unended_.count(word) > 0) return;
    const size_t end = FindLine(word, at_);
    if (end == kNone) {
      unended_.insert(word);
    } else {
      at_ = end;
    }
  }

  // The end of the first line after `at` that holds `word` and nothing else.
  size_t FindLine(const std::string& word, size_t at) const {
    for (at = text_.find(word, at); at != kNone;
         at = text_.find(word, at + 1)) {
      size_t begin = at;
      while (begin > 0 && IsBlank(text_[begin - 1])) --begin;
      const size_t end = at + word.size();
      const bool begins = begin > 0 && text_[begin - 1] == '\n';
      if (begins && (end == text_.size() || text_[end] == '\n')) return end;
    }
    return kNone;
  }

  // Reads up to an unquoted character of `ends`, or up to white space unless
  // there may be `many` words. Falls back to the rest of the line where
  // quotes or the list do not end.
  std::string ParseWords(std::string_view ends, bool many) {
    const size_t begin = at_;
    if (ends == ")" && !lists_end_) return RestOfLine(begin);
    std::string words;
    while (at_ < text_.size() && ends.find(text_[at_]) == kNone) {
      if (!many && std::isspace(Byte(at_))) return words;
      if (text_[at_] == '#' && (at_ == begin || IsSpace(at_ - 1))) {
        at_ = LineEnd(at_);
        continue;
      }
      const size_t end = SkipQuoted(text_, at_);
      if (end == kNone) return RestOfLine(begin);
      AppendSource(at_, end, words);
      at_ = end;
    }
    lists_end_ = lists_end_ && (ends != ")" || at_ < text_.size());
    return ends == ")" && !lists_end_ ? RestOfLine(begin) : words;
  }

  // Drops line continuations.
  void AppendSource(size_t begin, size_t end, std::string& words) const {
    for (size_t i = begin; i < end; ++i) {
      if (text_[i] == '\\' && i + 1 < end && text_[i + 1] == '\n') {
        words += ' ';
        ++i;
      } else {
        words += text_[i];
      }
    }
  }

  std::string RestOfLine(size_t begin) {
    at_ = LineEnd(begin);
    std::string rest(text_.substr(begin, at_ - begin));
    std::erase_if(rest, [](char c) { return c == '"' || c == '\''; });
    return rest;
  }

  size_t LineEnd(size_t at) const {
    return std::min(text_.find('\n', at), text_.size());
  }
  unsigned char Byte(size_t at) const {
    return static_cast<unsigned char>(text_[at]);
  }
  bool IsSpace(size_t at) const { return std::isspace(Byte(at)); }

  std::string_view text_;
  size_t at_ = 0;
  // False once a list ran to the end of the text: no later one ends either.
  bool lists_end_ = true;
  // Words that end no here-document any more.
  std::set<std::string> unended_;
  Script script_;
};

}  // namespace

bool IsVariableName(std::string_view name) {
  return !name.empty() && !absl::ascii_isdigit(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

size_t SkipQuoted(std::string_view text, size_t at) {
  return Skip(text, at, 0);
}

Script ParseScript(std::string_view text) {
  // Control characters mean nothing in a script, and shell_variables.h uses
  // some as marks.
  std::string clean(text);
  for (char& c : clean) {
    if (absl::ascii_iscntrl(c) && c != '\n' && c != '\t') c = ' ';
  }
  return Parser(clean).Parse();
}

}  // namespace prism::import
