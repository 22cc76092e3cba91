#include "client/import/option_reader.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "client/import/arithmetic.h"

namespace prism::import {
namespace {

constexpr int64_t kMost = int64_t{1} << 24;

std::string SetHint(const std::string& name) {
  return absl::StrCat("give it with --set ", name, "=VALUE");
}

}  // namespace

std::optional<std::string> OptionReader::Text(const std::string& name) const {
  const LaunchOption* option = options_.Find(name);
  if (option == nullptr) return std::nullopt;
  const std::string field = "--" + name;
  if (option->values.empty()) {
    violations_.Add(field, "has no value; " + SetHint(name));
    return std::nullopt;
  }
  return Known(field, option->values[0]);
}

std::optional<int64_t> OptionReader::Count(const std::string& name,
                                           int64_t least) const {
  const std::optional<std::string> text = Text(name);
  if (!text.has_value()) return std::nullopt;
  return Number("--" + name, *text, least);
}

int64_t OptionReader::Required(const std::string& name) const {
  if (!Has(name)) violations_.Add("--" + name, "is missing; " + SetHint(name));
  return Count(name).value_or(1);
}

int64_t OptionReader::CountOfAny(const std::vector<std::string>& names,
                                 int64_t otherwise) const {
  for (const std::string& name : names) {
    if (Has(name)) return Count(name).value_or(otherwise);
  }
  return otherwise;
}

bool OptionReader::HasAny(const std::vector<std::string>& names) const {
  return std::any_of(names.begin(), names.end(),
                     [&](const auto& name) { return Has(name); });
}

std::vector<std::string> OptionReader::Texts(const std::string& name) const {
  if (!Text(name).has_value()) return {};
  std::vector<std::string> texts;
  for (const std::string& value : options_.Find(name)->values) {
    const auto text = Known("--" + name, value);
    if (!text.has_value()) return {};
    texts.push_back(*text);
  }
  return texts;
}

double OptionReader::Fraction(const std::string& name, double otherwise) const {
  const std::optional<std::string> text = Text(name);
  if (!text.has_value()) return otherwise;
  double value = 0;
  if (absl::SimpleAtod(*text, &value) && value >= 0 && value <= 1) return value;
  violations_.Add(
      "--" + name,
      absl::StrCat("is \"", *text, "\"; must be a number from 0 to 1"));
  return otherwise;
}

std::optional<int64_t> OptionReader::Setting(const std::string& name) const {
  const std::optional<std::string> text = variables_.settings().Find(name);
  if (!text.has_value()) return std::nullopt;
  return Number("--set " + name, *text, 1);
}

int64_t OptionReader::RequiredVariable(const std::vector<std::string>& names,
                                       const std::string& what) const {
  for (const std::string& name : names) {
    const std::optional<std::string> marked = variables_.Find(name);
    if (!marked.has_value()) continue;
    const std::optional<std::string> text = Known(name, *marked);
    return text.has_value() ? Number(name, *text, 1).value_or(1) : 1;
  }
  violations_.Add(names[0], absl::StrCat("is missing: no file says how many ",
                                         what, "; ", SetHint(names[0])));
  return 1;
}

std::optional<std::string> OptionReader::Known(
    const std::string& field, const std::string& marked) const {
  Marks marks;
  std::string text = TakeMarks(marked, marks);
  for (const std::string& name : marks.undefined) {
    const bool settable = IsVariableName(name);
    violations_.Add(
        field,
        absl::StrCat(
            "needs ", name, ", which ",
            settable ? "no file defines; " : "only a running shell knows; ",
            SetHint(settable || field.substr(0, 2) != "--" ? name
                                                           : field.substr(2))));
  }
  for (const std::string& name : marks.ambiguous) {
    violations_.Add(
        field,
        absl::StrCat("needs ", name, ", which is assigned several values (\"",
                     absl::StrJoin(variables_.Alternatives(name), "\", \""),
                     "\"); choose one with --set ", name, "=VALUE"));
  }
  if (!marks.empty()) return std::nullopt;
  return text;
}

std::optional<int64_t> OptionReader::Number(const std::string& field,
                                            const std::string& text,
                                            int64_t least) const {
  const std::optional<int64_t> number = ParseInteger(text);
  if (number.has_value() && *number >= least && *number <= kMost) return number;
  violations_.Add(
      field, absl::StrCat("is \"", text, "\"; must be a whole number from ",
                          least, " to ", kMost));
  return std::nullopt;
}

}  // namespace prism::import
