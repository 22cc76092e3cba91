#include "core/query/node.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <google/protobuf/stubs/common.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace prism::query {

int64_t CountNodes(const Node& node) {
  int64_t count = 1;
  if (const auto* list = node.As<Node::List>()) {
    for (const Node& item : *list) count += CountNodes(item);
  } else if (const auto* map = node.As<Node::Map>()) {
    for (const Entry& entry : *map) count += CountNodes(entry.node);
  }
  return count;
}

std::string ShownKey(std::string_view key) {
  constexpr size_t kMostShown = 60;
  const absl::string_view shown(key.data(), std::min(key.size(), kMostShown));
  return absl::StrCat(absl::CHexEscape(shown),
                      key.size() > kMostShown ? "..." : "");
}

std::string Quote(std::string_view text) {
  return absl::StrCat("\"", ShownKey(text), "\"");
}

bool IsUtf8(std::string_view text) {
  return google::protobuf::internal::IsStructurallyValidUTF8(
      text.data(), static_cast<int>(text.size()));
}

std::string FormatNumber(double value) {
  // Whole numbers are spelled out; -0 keeps its sign only with a fraction.
  constexpr double kMostSpelledOut = 1e15;
  if (value == 0 && std::signbit(value)) return "-0.0";
  if (std::trunc(value) == value && std::abs(value) < kMostSpelledOut) {
    return absl::StrCat(static_cast<int64_t>(value));
  }
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return std::string(buffer, end);
}

namespace {

struct Describer {
  std::string operator()(Node::Null) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return absl::StrCat(value); }
  std::string operator()(uint64_t value) const { return absl::StrCat(value); }
  std::string operator()(double value) const { return FormatNumber(value); }
  std::string operator()(const std::string& value) const {
    return Quote(value);
  }
  std::string operator()(const Node::List&) const { return "a list"; }
  std::string operator()(const Node::Map&) const { return "a map"; }
};

}  // namespace

std::string Describe(const Node& node) {
  return std::visit(Describer(), node.value);
}

bool TreeBuilder::Add(Node::Value value) {
  return Charge(1) && Place(Node{std::move(value)}) != nullptr;
}

bool TreeBuilder::AddTree(Node tree) {
  return Charge(CountNodes(tree)) && Place(std::move(tree)) != nullptr;
}

bool TreeBuilder::BeginList() { return Begin(Node::List()); }

bool TreeBuilder::BeginMap() { return Begin(Node::Map()); }

void TreeBuilder::Key(std::string key) {
  key_ = std::move(key);
  has_key_ = true;
}

void TreeBuilder::End() {
  if (!problem_.empty() || open_.empty()) return;
  last_ = open_.back();
  open_.pop_back();
}

bool TreeBuilder::wants_key() const {
  return !open_.empty() && open_.back()->As<Node::Map>() != nullptr &&
         !has_key_;
}

bool TreeBuilder::Charge(int64_t nodes) {
  nodes_ += nodes;
  if (nodes_ > kMostNodes) {
    return Fail(absl::StrCat("holds more than ", kMostNodes, " values"));
  }
  return problem_.empty();
}

bool TreeBuilder::Begin(Node::Value value) {
  if (depth() >= kMostDepth) {
    return Fail(absl::StrCat("nests deeper than ", kMostDepth, " levels"));
  }
  if (!Charge(1)) return false;
  Node* node = Place(Node{std::move(value)});
  if (node == nullptr) return false;
  open_.push_back(node);
  return true;
}

// Only the innermost open list or map grows, so pointers to the open ones stay
// valid.
Node* TreeBuilder::Place(Node node) {
  if (open_.empty()) {
    if (std::exchange(has_root_, true)) {
      Fail("holds more than one document");
      return nullptr;
    }
    root_ = std::move(node);
    return last_ = &root_;
  }
  Node::Value& parent = open_.back()->value;
  if (auto* list = std::get_if<Node::List>(&parent)) {
    return last_ = &list->emplace_back(std::move(node));
  }
  auto& map = std::get<Node::Map>(parent);
  map.push_back({std::move(key_), std::move(node)});
  has_key_ = false;
  return last_ = &map.back().node;
}

bool TreeBuilder::Fail(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
  return false;
}

}  // namespace prism::query
