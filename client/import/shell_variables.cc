#include "client/import/shell_variables.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "client/import/arithmetic.h"

namespace prism::import {
namespace {

// ParseScript leaves no control character in a script.
constexpr char kUndefined = '\x01';
constexpr char kAmbiguous = '\x03';
constexpr char kMarkEnd = '\x02';

constexpr size_t kNone = std::string_view::npos;

// Marks pass through word splitting, so they hold no white space or quotes.
std::string Mark(char kind, std::string_view name) {
  std::string mark(1, kind);
  for (const char c : name.substr(0, 60)) {
    const bool splits = absl::ascii_isspace(c) || c == '"' || c == '\'';
    if (!absl::ascii_iscntrl(c)) mark += splits ? '_' : c;
  }
  return mark + kMarkEnd;
}

std::string_view LeadingName(std::string_view text) {
  size_t end = 0;
  while (end < text.size() &&
         (absl::ascii_isalnum(text[end]) || text[end] == '_')) {
    ++end;
  }
  const std::string_view name = text.substr(0, end);
  return IsVariableName(name) ? name : std::string_view();
}

// Whether `text` holds $name or ${name.
bool RefersTo(std::string_view text, std::string_view name) {
  for (size_t at = text.find('$'); at != kNone; at = text.find('$', at + 1)) {
    const bool braced = text.substr(at + 1, 1) == "{";
    if (LeadingName(text.substr(at + (braced ? 2 : 1))) == name) return true;
  }
  return false;
}

}  // namespace

std::string TakeMarks(std::string_view text, Marks& marks) {
  std::string rest;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != kUndefined && text[at] != kAmbiguous) {
      rest += text[at];
      continue;
    }
    const size_t end = std::min(text.find(kMarkEnd, at), text.size());
    auto& names = text[at] == kUndefined ? marks.undefined : marks.ambiguous;
    names.emplace(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return rest;
}

// Expands one text. What is quoted is told apart only to find where it ends:
// splitting into words comes after.
class ShellVariables::Expander {
 public:
  Expander(const ShellVariables& variables, std::string_view text, int depth)
      : variables_(variables), text_(text), depth_(depth) {}

  std::string Expand() && {
    while (at_ < text_.size() && result_.size() < kMostText) ExpandNext();
    if (result_.size() > kMostText) result_.resize(kMostText);
    return std::move(result_);
  }

 private:
  void ExpandNext() {
    const char c = text_[at_];
    if (c == '$') {
      ExpandDollar();
    } else if (c == '`') {
      TakeQuoted();
      result_ += Mark(kUndefined, "`...`");
    } else if (c == '\'' && !in_double_quotes_) {
      const std::string_view quoted = TakeQuoted();
      result_ +=
          quoted.size() < 2 ? quoted : quoted.substr(1, quoted.size() - 2);
    } else if (c == '"') {
      in_double_quotes_ = !in_double_quotes_;
      ++at_;
    } else if (c == '\\' && at_ + 1 < text_.size()) {
      result_ += text_[at_ + 1];
      at_ += 2;
    } else {
      result_ += c;
      ++at_;
    }
  }

  // The quoted text that begins here, or the rest if it does not end.
  std::string_view TakeQuoted() {
    const size_t end = std::min(SkipQuoted(text_, at_), text_.size());
    const std::string_view quoted = text_.substr(at_, end - at_);
    at_ = end;
    return quoted;
  }

  void ExpandDollar() {
    const std::string_view name = LeadingName(text_.substr(at_ + 1));
    if (!name.empty()) {
      at_ += 1 + name.size();
      result_ += variables_.Lookup(std::string(name), depth_);
      return;
    }
    const std::string_view whole = TakeQuoted();
    if (whole.substr(0, 3) == "$((" && whole.size() >= 5) {
      ExpandArithmetic(whole.substr(3, whole.size() - 5));
    } else if (whole.substr(0, 2) == "$(") {
      result_ += Mark(kUndefined, "$(...)");
    } else if (whole.substr(0, 2) == "${" && whole.size() >= 3) {
      ExpandBraces(whole.substr(2, whole.size() - 3));
    } else {
      ExpandSpecial();
    }
  }

  // $1, $@ and their kind, of which only the running shell knows the value.
  void ExpandSpecial() {
    constexpr std::string_view kSpecial = "0123456789@*#?$!-";
    if (at_ < text_.size() && kSpecial.find(text_[at_]) != kNone) {
      result_ += Mark(kUndefined, std::string("$") + text_[at_]);
      ++at_;
    } else {
      result_ += '$';
    }
  }

  void ExpandArithmetic(std::string_view expression) {
    std::string numbers;
    for (size_t at = 0; at < expression.size();) {
      const std::string_view name = LeadingName(expression.substr(at));
      // Names count with and without $; a digit before means a number.
      const bool digit_before =
          at > 0 && absl::ascii_isalnum(expression[at - 1]);
      if (name.empty() || digit_before) {
        numbers += expression[at++];
        continue;
      }
      if (!numbers.empty() && numbers.back() == '{') numbers.pop_back();
      if (!numbers.empty() && numbers.back() == '$') numbers.pop_back();
      absl::StrAppend(&numbers, "(",
                      variables_.Lookup(std::string(name), depth_), ")");
      at += name.size();
      if (at < expression.size() && expression[at] == '}') ++at;
    }
    Marks marks;
    const std::optional<int64_t> value =
        EvaluateArithmetic(TakeMarks(numbers, marks));
    for (const std::string& name : marks.undefined)
      result_ += Mark(kUndefined, name);
    for (const std::string& name : marks.ambiguous)
      result_ += Mark(kAmbiguous, name);
    if (value.has_value()) {
      absl::StrAppend(&result_, *value);
    } else if (marks.undefined.empty()) {
      result_ += Mark(kUndefined, "$((" + std::string(expression) + "))");
    }
  }

  // NAME, NAME:-word, NAME[@] and so on.
  void ExpandBraces(std::string_view inside) {
    size_t name_end = LeadingName(inside).size();
    while (name_end == 0 && name_end < inside.size() &&
           absl::ascii_isdigit(inside[name_end])) {
      ++name_end;
    }
    const std::string name(inside.substr(0, name_end));
    std::string_view operation = inside.substr(name_end);
    if (operation.substr(0, 1) == "[")
      operation.remove_prefix(
          std::min(operation.find(']'), operation.size() - 1) + 1);
    const bool colon = operation.substr(0, 1) == ":";
    const std::string_view kind = operation.substr(colon ? 1 : 0, 1);
    const bool known_kind = kind == "-" || kind == "=" || kind == "+";
    if (name.empty() || (!operation.empty() && !known_kind)) {
      result_ += Mark(kUndefined, "${" + std::string(inside) + "}");
    } else if (operation.empty()) {
      result_ += variables_.Lookup(name, depth_);
    } else {
      ExpandConditional(name, kind, operation.substr(colon ? 2 : 1), colon);
    }
  }

  void ExpandConditional(const std::string& name, std::string_view kind,
                         std::string_view word, bool colon) {
    const std::optional<std::string> value = variables_.Resolve(name, depth_);
    const bool set = value.has_value() && !(colon && value->empty());
    if (set == (kind == "+")) {
      result_ += variables_.ExpandAt(word, depth_ + 1);
    } else if (set) {
      result_ += *value;
    }
  }

  const ShellVariables& variables_;
  std::string_view text_;
  const int depth_;
  size_t at_ = 0;
  bool in_double_quotes_ = false;
  std::string result_;
};

ShellVariables::ShellVariables(
    const std::vector<Statement>& statements,
    const std::map<std::string, std::string>& predefined,
    const Settings& settings)
    : predefined_(predefined), settings_(settings) {
  for (const Statement& statement : statements) {
    if (statement.is_assignment())
      assignments_[statement.name].push_back(&statement);
  }
}

std::string ShellVariables::Expand(std::string_view text) const {
  return ExpandAt(text, 0);
}

std::optional<std::string> ShellVariables::Find(const std::string& name) const {
  return Resolve(name, 0);
}

std::string ShellVariables::ValueAfter(const std::string& name,
                                       int level) const {
  return ValueAfterAt(name, level, 0);
}

int ShellVariables::AssignmentCount(const std::string& name) const {
  const auto found = assignments_.find(name);
  return found == assignments_.end() ? 0
                                     : static_cast<int>(found->second.size());
}

std::vector<std::string> ShellVariables::Alternatives(
    const std::string& name) const {
  return AlternativesAt(name, 0);
}

std::string ShellVariables::ExpandAt(std::string_view text, int depth) const {
  if (depth > kDeepest || total_ > kMostTotal) return Mark(kUndefined, text);
  std::string expanded = Expander(*this, text, depth).Expand();
  total_ += expanded.size();
  return expanded;
}

std::string ShellVariables::Lookup(const std::string& name, int depth) const {
  return Resolve(name, depth).value_or(Mark(kUndefined, name));
}

std::optional<std::string> ShellVariables::Resolve(const std::string& name,
                                                   int depth) const {
  if (std::optional<std::string> setting = settings_.Find(name)) return setting;
  const auto inside = resolving_.find(name);
  const bool is_inside = inside != resolving_.end();
  const int level = is_inside ? inside->second - 1 : AssignmentCount(name) - 1;
  if (level < 0 || depth > kDeepest) {
    const auto found = predefined_.find(name);
    if (found == predefined_.end()) return std::nullopt;
    return found->second;
  }
  const std::string value = ValueAfterAt(name, level, depth);
  if (is_inside || AlternativesAt(name, depth).size() < 2) return value;
  return Mark(kAmbiguous, name) + value;
}

std::string ShellVariables::ValueAfterAt(const std::string& name, int level,
                                         int depth) const {
  const auto& statements = assignments_.at(name);
  int first = level;
  while (first >= 0 && known_.count({name, first}) == 0) --first;
  for (int i = first + 1; i <= level; ++i) {
    const std::pair key(name, i);
    const Statement& statement = *statements[static_cast<size_t>(i)];
    const auto outer = resolving_.extract(name);
    resolving_[name] = i;
    std::string value = ExpandAt(statement.text, depth + 1);
    resolving_.erase(name);
    if (!outer.empty()) resolving_[name] = outer.mapped();
    if (statement.appends && i > 0) {
      value = absl::StrCat(known_[{name, i - 1}], statement.is_list ? " " : "",
                           value);
      value.resize(std::min(value.size(), kMostText));
    }
    known_[key] = std::move(value);
  }
  return known_[{name, level}];
}

const std::vector<std::string>& ShellVariables::AlternativesAt(
    const std::string& name, int depth) const {
  const auto known = alternatives_.find(name);
  if (known != alternatives_.end()) return known->second;
  std::vector<std::string> values;
  const bool decided = settings_.all().count(name) > 0 ||
                       AssignmentCount(name) < 2 || BuildsOnItself(name);
  for (int i = 0; !decided && i < AssignmentCount(name); ++i) {
    std::string value = ValueAfterAt(name, i, depth);
    // "" first only prepares the name for what follows.
    const bool prepares = i == 0 && value.empty();
    if (!prepares &&
        std::find(values.begin(), values.end(), value) == values.end()) {
      values.push_back(std::move(value));
    }
  }
  if (values.size() < 2) values.clear();
  return alternatives_[name] = std::move(values);
}

bool ShellVariables::BuildsOnItself(const std::string& name) const {
  const auto& statements = assignments_.at(name);
  return std::any_of(statements.begin() + 1, statements.end(),
                     [&](const Statement* statement) {
                       return statement->appends || statement->is_list ||
                              RefersTo(statement->text, name);
                     });
}

}  // namespace prism::import
