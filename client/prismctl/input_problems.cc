#include "client/prismctl/input_problems.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <utility>

#include "client/prismctl/input_file.h"

namespace prism::prismctl {
namespace {

// Whether `path` is `field` or inside it.
bool IsWithin(const std::string& path, const std::string& field) {
  if (!absl::StartsWith(path, field)) return false;
  return path.size() == field.size() || path[field.size()] == '.' ||
         path[field.size()] == '[';
}

// A server numbers its questions; the command line asks one.
std::string WithoutQuestion(const std::string& path) {
  return std::string(absl::StripPrefix(path, "questions[0]."));
}

}  // namespace

void InputProblems::AddToFile(const std::string& subject,
                              const std::string& field,
                              const std::string& description) {
  const bool joins = subject.empty() || field.empty() || field.front() == '[';
  Add(absl::StrCat(subject, joins ? "" : ".", field), description);
}

void InputProblems::AddOfQuestion(const base::Violations& violations) {
  const size_t known = lines_.size();
  for (const base::Violation& violation : violations.list()) {
    const std::string path = WithoutQuestion(violation.field);
    if (!Follows(path, known)) Add(path, violation.description);
  }
  dropped_ += violations.dropped();
}

bool InputProblems::Follows(const std::string& path, size_t known) const {
  return std::any_of(
      lines_.begin(), lines_.begin() + known, [&](const Line& line) {
        return IsWithin(path, line.path) || IsWithin(line.path, path);
      });
}

QuestionFiles::const_iterator InputProblems::SourceOf(
    const std::string& path) const {
  auto longest = files_.find("");
  for (auto file = files_.begin(); file != files_.end(); ++file) {
    // In the order of the keys a path comes after all it is within.
    if (!file->first.empty() && IsWithin(path, file->first)) longest = file;
  }
  return longest;
}

void InputProblems::Add(const std::string& path,
                        const std::string& description) {
  const auto source = SourceOf(path);
  std::string text;
  if (source == files_.end()) {
    text = absl::StrCat("--", path, ": ", description);
  } else {
    const std::string field(
        absl::StripPrefix(path.substr(source->first.size()), "."));
    text = absl::StrCat(InputName(source->second), ": ", field,
                        field.empty() ? "" : ": ", description);
  }
  lines_.push_back({path, std::move(text)});
}

std::string InputProblems::Text() const {
  std::string text = "prismctl: the input is wrong\n";
  for (const Line& line : lines_) absl::StrAppend(&text, "  ", line.text, "\n");
  if (dropped_ > 0) absl::StrAppend(&text, "  and ", dropped_, " more\n");
  return text;
}

}  // namespace prism::prismctl
