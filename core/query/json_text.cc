#include "core/query/json_text.h"

#include <absl/strings/str_cat.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/query/plain_json.h"

namespace prism::query {
namespace {

using Json = nlohmann::json;

constexpr int kNumberOverflow = 406;  // id of nlohmann's out_of_range error

// Passes the parser's events on to a TreeBuilder.
class JsonEvents final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return tree_.Add(Node::Null()); }
  bool boolean(bool value) override { return tree_.Add(value); }
  bool number_integer(int64_t value) override { return tree_.Add(value); }
  bool number_unsigned(uint64_t value) override {
    if (value > static_cast<uint64_t>(INT64_MAX)) return tree_.Add(value);
    return tree_.Add(static_cast<int64_t>(value));
  }
  bool number_float(double value, const std::string&) override {
    return tree_.Add(value);
  }
  bool string(std::string& value) override {
    return tree_.Add(std::move(value));
  }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(size_t) override { return tree_.BeginMap(); }
  bool key(std::string& key) override {
    tree_.Key(std::move(key));
    return true;
  }
  bool end_object() override { return Closed(); }
  bool start_array(size_t) override { return tree_.BeginList(); }
  bool end_array() override { return Closed(); }
  bool parse_error(size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    overflow_ = error.id == kNumberOverflow;
    error_ = error.what();
    return false;
  }

  absl::Status Error() const {
    if (overflow_) return absl::OutOfRangeError(PlainError());
    if (!error_.empty()) return absl::InvalidArgumentError(PlainError());
    return absl::InvalidArgumentError(tree_.problem());
  }
  Node Take() { return std::move(tree_.root()); }

 private:
  bool Closed() {
    tree_.End();
    return true;
  }

  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
  // without its bracket, and printable.
  std::string PlainError() const {
    constexpr size_t kMostShown = 200;
    const size_t bracket = error_.find("] ");
    std::string text =
        bracket == std::string::npos ? error_ : error_.substr(bracket + 2);
    if (text.size() > kMostShown) text = text.substr(0, kMostShown) + "...";
    for (char& c : text) {
      if (c < ' ' || c > '~') c = '?';
    }
    return absl::StrCat("is not valid JSON: ", text);
  }

  TreeBuilder tree_;
  bool overflow_ = false;
  std::string error_;
};

// Appends nodes as indented JSON.
class JsonWriter {
 public:
  void operator()(Node::Null) { text_ += "null"; }
  void operator()(bool value) { text_ += value ? "true" : "false"; }
  void operator()(int64_t value) { absl::StrAppend(&text_, value); }
  void operator()(uint64_t value) { absl::StrAppend(&text_, value); }
  void operator()(double value) {
    text_ += std::isfinite(value) ? FormatNumber(value) : "null";
  }
  void operator()(const std::string& value) { text_ += QuoteJson(value); }
  void operator()(const Node::List& list) {
    Open('[');
    for (const Node& item : list) {
      Next();
      std::visit(*this, item.value);
    }
    Close(']', list.empty());
  }
  void operator()(const Node::Map& map) {
    Open('{');
    for (const Entry& entry : map) {
      Next();
      text_ += QuoteJson(entry.key);
      text_ += ": ";
      std::visit(*this, entry.node.value);
    }
    Close('}', map.empty());
  }

  std::string Take() { return std::move(text_); }

 private:
  void Open(char bracket) {
    text_ += bracket;
    ++depth_;
    first_ = true;
  }
  void Next() {
    if (!std::exchange(first_, false)) text_ += ',';
    NewLine();
  }
  void Close(char bracket, bool empty) {
    --depth_;
    if (!empty) NewLine();
    text_ += bracket;
    first_ = false;
  }
  void NewLine() {
    text_ += '\n';
    text_.append(2 * static_cast<size_t>(depth_), ' ');
  }

  std::string text_;
  int depth_ = 0;
  bool first_ = true;
};

}  // namespace

absl::StatusOr<Node> ParseJson(std::string_view text) {
  if (auto node = ParsePlainJson(text)) return *std::move(node);
  JsonEvents events;
  if (Json::sax_parse(text.begin(), text.end(), &events)) return events.Take();
  return events.Error();
}

std::string FormatJson(const Node& node) {
  JsonWriter writer;
  std::visit(writer, node.value);
  return writer.Take();
}

std::string QuoteJson(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace prism::query
