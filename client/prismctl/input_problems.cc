#include "client/prismctl/input_problems.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <utility>

#include "client/prismctl/input_file.h"

namespace prism::prismctl {
namespace {

// "job.model.layers" -> {"job", "model.layers"}
std::pair<std::string, std::string> SplitFirst(const std::string& path) {
  const size_t end = path.find_first_of(".[");
  if (end == std::string::npos) return {path, ""};
  const bool list = path[end] == '[';
  return {path.substr(0, end), path.substr(list ? end : end + 1)};
}

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

void InputProblems::Add(const std::string& path,
                        const std::string& description) {
  const auto [subject, field] = SplitFirst(path);
  const auto whole = files_.find("");
  const auto file = files_.find(subject);
  std::string text;
  if (file != files_.end() && file != whole) {
    text = absl::StrCat(InputName(file->second), ": ", field,
                        field.empty() ? "" : ": ", description);
  } else if (whole != files_.end()) {
    text = absl::StrCat(InputName(whole->second), ": ", path,
                        path.empty() ? "" : ": ", description);
  } else {
    text = absl::StrCat("--", path, ": ", description);
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
