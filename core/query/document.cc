#include "core/query/document.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "core/query/json_text.h"
#include "core/query/message_reader.h"
#include "core/query/message_writer.h"
#include "core/query/yaml_text.h"

namespace prism::query {
namespace {

constexpr size_t kMostBytes = 64 << 20;

bool LooksLikeJson(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos &&
         (text[first] == '{' || text[first] == '[');
}

// JSON is YAML: the YAML parser keeps a number that no double holds as
// infinity, so that the field it stands in can be named.
absl::StatusOr<Node> ParseText(const std::string& text) {
  if (!LooksLikeJson(text)) return ParseYaml(text);
  absl::StatusOr<Node> json = ParseJson(text);
  if (!absl::IsOutOfRange(json.status())) return json;
  absl::StatusOr<Node> yaml = ParseYaml(text);
  return yaml.ok() ? std::move(yaml) : std::move(json);
}

}  // namespace

void ReadDocument(const std::string& text, google::protobuf::Message* message,
                  base::Violations& violations, const std::string& list_field) {
  if (text.size() > kMostBytes) {
    violations.Add(
        "", absl::StrCat("is ", text.size(), " bytes long; must be at most ",
                         kMostBytes));
    return;
  }
  absl::StatusOr<Node> node = ParseText(text);
  if (!node.ok()) {
    violations.Add("", std::string(node.status().message()));
    return;
  }
  if (node->As<Node::Null>() != nullptr) {
    violations.Add("", "is empty; must be a map of keys");
    return;
  }
  if (!list_field.empty() && node->As<Node::List>() != nullptr) {
    node = Node{Node::Map{{list_field, *std::move(node)}}};
  }
  MessageReader(violations).Read(*node, FieldPath(""), *message);
}

std::string WriteYaml(const google::protobuf::Message& message) {
  return FormatYaml(MessageToNode(message));
}

std::string WriteJson(const google::protobuf::Message& message) {
  return FormatJson(MessageToNode(message)) + "\n";
}

}  // namespace prism::query
