#include "core/query/document_names.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <numeric>

#include "prism/v1/document.pb.h"

namespace prism::query {
namespace {

// Levenshtein distance, row by row.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string EnumWord(const google::protobuf::EnumValueDescriptor& value) {
  return value.options().GetExtension(prism::v1::document_name);
}

const google::protobuf::EnumValueDescriptor* FindEnumWord(
    const google::protobuf::EnumDescriptor& type, std::string_view word) {
  if (word.empty()) return nullptr;
  for (int i = 0; i < type.value_count(); ++i) {
    if (EnumWord(*type.value(i)) == word) return type.value(i);
  }
  return nullptr;
}

std::vector<std::string> EnumWords(
    const google::protobuf::EnumDescriptor& type) {
  std::vector<std::string> words;
  for (int i = 0; i < type.value_count(); ++i) {
    std::string word = EnumWord(*type.value(i));
    if (!word.empty()) words.push_back(std::move(word));
  }
  return words;
}

std::vector<std::string> Keys(const google::protobuf::Descriptor& type) {
  std::vector<std::string> keys;
  for (int i = 0; i < type.field_count(); ++i) {
    keys.push_back(type.field(i)->name());
  }
  return keys;
}

std::string ClosestWord(std::string_view word,
                        const std::vector<std::string>& candidates) {
  constexpr size_t kLongestWord = 64;
  if (word.size() > kLongestWord) return {};
  std::string closest;
  // A third of the letters may differ: more is another word.
  size_t closest_distance = word.size() / 3 + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < closest_distance) {
      closest = candidate;
      closest_distance = distance;
    }
  }
  return closest;
}

std::string Suggestion(std::string_view word,
                       const std::vector<std::string>& candidates) {
  const std::string closest = ClosestWord(word, candidates);
  return closest.empty() ? ""
                         : absl::StrCat("; did you mean \"", closest, "\"?");
}

}  // namespace prism::query
