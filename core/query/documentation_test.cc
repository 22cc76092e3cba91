// docs/documents.md names every key and every word, and none that is not.
#include <absl/strings/match.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/query/document_names.h"
#include "prism/v1/completion_service.pb.h"
#include "prism/v1/explain_service.pb.h"
#include "prism/v1/placement_service.pb.h"
#include "prism/v1/prediction_service.pb.h"

namespace prism::query {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using testing::UnorderedElementsAreArray;

// Section title -> the `words` in the first column of its tables.
std::map<std::string, std::vector<std::string>> DocumentedWords() {
  std::ifstream file(PRISM_SOURCE_DIR "/docs/documents.md");
  std::map<std::string, std::vector<std::string>> words;
  std::string line, section;
  while (std::getline(file, line)) {
    const size_t first = line.find('`');
    const size_t second = line.find('`', first + 1);
    if (second == std::string::npos) continue;
    const std::string word = line.substr(first + 1, second - first - 1);
    if (absl::StartsWith(line, "#")) section = word;
    if (absl::StartsWith(line, "| `")) words[section].push_back(word);
  }
  return words;
}

// The messages and enums that questions are made of.
struct Vocabulary {
  std::map<std::string, std::vector<std::string>> words;

  void Add(const EnumDescriptor& type) { words[type.name()] = EnumWords(type); }

  void Add(const Descriptor& type) {
    if (!words.insert({type.name(), Keys(type)}).second) return;
    for (int i = 0; i < type.field_count(); ++i) {
      const auto& field = *type.field(i);
      if (field.is_map()) continue;
      if (field.message_type() != nullptr) Add(*field.message_type());
      if (field.enum_type() != nullptr) Add(*field.enum_type());
    }
  }
};

TEST(Documentation, NamesEveryKeyAndWord) {
  Vocabulary vocabulary;
  for (const Descriptor* question :
       {prism::v1::Question::descriptor(),
        prism::v1::ScorePlacementsRequest::descriptor(),
        prism::v1::OptimizePlacementRequest::descriptor(),
        prism::v1::RankNodesRequest::descriptor(),
        prism::v1::ExplainVariabilityRequest::descriptor(),
        prism::v1::ProjectCompletionRequest::descriptor()}) {
    vocabulary.Add(*question);
  }
  // A mixture is written as its list.
  vocabulary.words.erase("Mixture");
  // Without keys.
  vocabulary.words.erase("RebalanceStages");
  vocabulary.words.erase("SortSequences");
  const auto documented = DocumentedWords();
  for (const auto& [type, words] : vocabulary.words) {
    ASSERT_TRUE(documented.contains(type)) << type;
    EXPECT_THAT(documented.at(type), UnorderedElementsAreArray(words)) << type;
  }
}

}  // namespace
}  // namespace prism::query
