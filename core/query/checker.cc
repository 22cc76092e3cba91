#include "core/query/checker.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>

#include "core/query/document_names.h"
#include "core/query/node.h"

namespace prism::query {

void Checker::Fail(const FieldPath& path, std::string description) {
  ++failures_;
  violations_.Add(path.ToString(), std::move(description));
}

bool Checker::Require(bool holds, const FieldPath& path,
                      std::string description) {
  if (!holds) Fail(path, std::move(description));
  return holds;
}

double Checker::AtLeast(double value, double low, const FieldPath& path) {
  return Number(value, value >= low, "at least ", path, low);
}

double Checker::Above(double value, double low, const FieldPath& path) {
  return Number(value, value > low, "above ", path, low);
}

double Checker::Within(double value, double low, double high,
                       const FieldPath& path) {
  if (value >= low && value <= high) return value;
  Fail(path, absl::StrCat("is ", FormatNumber(value), "; must be from ",
                          FormatNumber(low), " to ", FormatNumber(high)));
  return low;
}

double Checker::Number(double value, bool holds, const char* relation,
                       const FieldPath& path, double low) {
  if (holds && value <= kLargestNumber) return value;
  std::string accepted;
  if (!std::isfinite(value)) {
    accepted = "a finite number";
  } else if (holds) {
    accepted = absl::StrCat("at most ", FormatNumber(kLargestNumber));
  } else {
    accepted = absl::StrCat(relation, FormatNumber(low));
  }
  Fail(path, absl::StrCat("is ", FormatNumber(value), "; must be ", accepted));
  return 1;
}

int64_t Checker::Between(uint64_t value, int64_t low, int64_t high,
                         const FieldPath& path) {
  if (value >= static_cast<uint64_t>(low) &&
      value <= static_cast<uint64_t>(high)) {
    return static_cast<int64_t>(value);
  }
  // A message cannot tell a field that is 0 from one that is not there.
  Fail(path, absl::StrCat("is ", value == 0 ? "missing or " : "", value,
                          "; must be from ", low, " to ", high));
  return low;
}

int64_t Checker::BetweenOr(uint64_t value, int64_t absent, int64_t low,
                           int64_t high, const FieldPath& path) {
  return value == 0 ? absent : Between(value, low, high, path);
}

void Checker::Divides(int64_t divisor, const std::string& name, int64_t value,
                      const FieldPath& path) {
  if (value % divisor == 0) return;
  Fail(path, absl::StrCat("is ", value, "; must be divisible by ", name,
                          ", which is ", divisor));
}

void Checker::FailEnum(const google::protobuf::EnumDescriptor& type, int value,
                       std::vector<int> accepted, const FieldPath& path) {
  // In the order of the type, whatever that of the table is.
  std::sort(accepted.begin(), accepted.end());
  std::vector<std::string> words;
  for (const int number : accepted) {
    std::string word = EnumWord(*type.FindValueByNumber(number));
    if (!word.empty()) words.push_back(std::move(word));
  }
  const auto* known = type.FindValueByNumber(value);
  std::string given = known != nullptr ? EnumWord(*known) : "";
  if (given.empty()) given = absl::StrCat(value);
  Fail(path, absl::StrCat("is ", given, "; must be one of ",
                          absl::StrJoin(words, ", ")));
}

}  // namespace prism::query
