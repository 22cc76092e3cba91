#include "client/import/launch_options.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <map>
#include <utility>

namespace prism::import {
namespace {

bool IsQuote(char c) { return c == '"' || c == '\''; }

// Words of expanded text. Quotes that an inner shell would remove go; what
// they hold is split too, which harms only values of several words.
std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
  for (std::string& word : words) std::erase_if(word, IsQuote);
  return words;
}

bool IsOption(std::string_view word) {
  return word.size() > 2 && word.substr(0, 2) == "--" &&
         absl::ascii_isalnum(word[2]);
}

}  // namespace

LaunchOptions LaunchOptions::Collect(const std::vector<Statement>& statements,
                                     const ShellVariables& variables) {
  LaunchOptions options;
  std::map<std::string, int> seen;
  for (const Statement& statement : statements) {
    const std::string& name = statement.name;
    if (!statement.is_assignment()) {
      options.AddText(variables.Expand(statement.text));
      continue;
    }
    const int level = seen[name]++;
    if (level + 1 == variables.AssignmentCount(name)) {
      options.AddText(variables.Find(name).value_or(""));
    } else if (statement.is_list) {
      options.AddText(variables.ValueAfter(name, level));
    }
  }
  return options;
}

void LaunchOptions::AddText(const std::string& expanded) {
  // A text without options is the value of one elsewhere.
  if (expanded.find("--") == std::string::npos) return;
  options_.push_back({"", {}});
  for (const std::string& word : Words(expanded)) AddWord(word);
}

void LaunchOptions::AddWord(const std::string& word) {
  Marks marks;
  const std::string text = TakeMarks(word, marks);
  if (IsOption(text)) {
    const std::string marked = word.substr(word.find("--") + 2);
    const size_t split = marked.find('=');
    options_.push_back({marked.substr(0, split), {}});
    if (split != std::string::npos)
      options_.back().values.push_back(marked.substr(split + 1));
    return;
  }
  LaunchOption& last = options_.back();
  if (last.name.empty() || !last.values.empty())
    strays_.insert(marks.undefined.begin(), marks.undefined.end());
  if (!last.name.empty()) last.values.push_back(word);
}

void LaunchOptions::Override(const std::string& name,
                             const std::string& value) {
  std::erase_if(options_, [&](const LaunchOption& option) {
    return option.name == name;
  });
  if (value != "false") options_.push_back({name, {value}});
}

const LaunchOption* LaunchOptions::Find(const std::string& name) const {
  const auto found = std::find_if(
      options_.rbegin(), options_.rend(),
      [&](const LaunchOption& option) { return option.name == name; });
  return found == options_.rend() ? nullptr : &*found;
}

std::vector<std::string> LaunchOptions::Names() const {
  std::vector<std::string> names;
  std::set<std::string> seen = {""};
  for (const LaunchOption& option : options_) {
    if (seen.insert(option.name).second) names.push_back(option.name);
  }
  return names;
}

std::vector<std::string> LaunchOptions::Repeated() const {
  std::map<std::string, std::set<std::vector<std::string>>> values;
  for (const LaunchOption& option : options_)
    values[option.name].insert(option.values);
  std::vector<std::string> repeated;
  for (const auto& [name, different] : values) {
    if (!name.empty() && different.size() > 1) repeated.push_back(name);
  }
  return repeated;
}

std::vector<std::string> OptionNames(const std::string& expanded) {
  std::vector<std::string> names;
  Marks marks;
  for (const std::string& word : Words(TakeMarks(expanded, marks))) {
    if (IsOption(word)) names.push_back(word.substr(2, word.find('=') - 2));
  }
  return names;
}

}  // namespace prism::import
