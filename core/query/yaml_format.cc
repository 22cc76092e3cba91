#include <absl/strings/str_cat.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/query/json_text.h"
#include "core/query/yaml_text.h"

namespace prism::query {
namespace {

// Texts that stay themselves without quotes.
bool IsPlainWord(const std::string& text) {
  constexpr char kSafe[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  return !text.empty() && text.size() < 80 &&
         text.find_first_not_of(kSafe) == std::string::npos && text[0] != '-' &&
         text[0] != '.' && ParsePlainScalar(text).As<std::string>() != nullptr;
}

std::string FormatText(const std::string& text) {
  return IsPlainWord(text) ? text : QuoteJson(text);
}

std::string FormatDouble(double value) {
  if (value != value) return ".nan";
  if (value == std::numeric_limits<double>::infinity()) return ".inf";
  if (value == -std::numeric_limits<double>::infinity()) return "-.inf";
  return FormatNumber(value);
}

bool IsScalar(const Node& node) {
  return node.As<Node::List>() == nullptr && node.As<Node::Map>() == nullptr;
}

// Appends nodes as block YAML. A value is written after its "key:" or "-",
// with `indent` the column its own lines begin at.
class YamlWriter {
 public:
  void Value(const Node& node, int indent) {
    if (const auto* list = node.As<Node::List>()) {
      List(*list, indent);
    } else if (const auto* map = node.As<Node::Map>()) {
      Map(*map, indent);
    } else {
      Scalar(node);
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  void Scalar(const Node& node) {
    if (const auto* text = node.As<std::string>()) {
      text_ += FormatText(*text);
    } else if (const auto* number = node.As<double>()) {
      text_ += FormatDouble(*number);
    } else {
      text_ += Describe(node);
    }
  }

  // Lists of scalars stay on one line.
  void List(const Node::List& list, int indent) {
    if (std::all_of(list.begin(), list.end(), IsScalar)) {
      text_ += '[';
      for (const Node& item : list) {
        if (&item != &list.front()) text_ += ", ";
        Scalar(item);
      }
      text_ += ']';
      return;
    }
    for (const Node& item : list) {
      if (&item != &list.front() || indent > 0) NewLine(indent);
      text_ += "- ";
      Item(item, indent + 2);
    }
  }

  // A map in a list begins beside its dash.
  void Item(const Node& node, int indent) {
    const auto* map = node.As<Node::Map>();
    if (map == nullptr || map->empty()) return Value(node, indent);
    Entries(*map, indent, /*first_inline=*/true);
  }

  void Map(const Node::Map& map, int indent) {
    if (map.empty()) {
      text_ += "{}";
      return;
    }
    Entries(map, indent, /*first_inline=*/indent == 0);
  }

  void Entries(const Node::Map& map, int indent, bool first_inline) {
    for (const Entry& entry : map) {
      if (!first_inline || &entry != &map.front()) NewLine(indent);
      // The space after the colon only where a value follows on the line.
      absl::StrAppend(&text_, FormatKey(entry.key), ":");
      if (StaysOnLine(entry.node)) text_ += ' ';
      Value(entry.node, indent + 2);
    }
  }

  // Keys are read as text whatever they look like.
  static std::string FormatKey(const std::string& key) {
    const bool number =
        key.find_first_not_of("0123456789") == std::string::npos;
    return !key.empty() && number ? key : FormatText(key);
  }

  static bool StaysOnLine(const Node& node) {
    if (const auto* list = node.As<Node::List>()) {
      return std::all_of(list->begin(), list->end(), IsScalar);
    }
    const auto* map = node.As<Node::Map>();
    return map == nullptr || map->empty();
  }

  void NewLine(int indent) {
    text_ += '\n';
    text_.append(static_cast<size_t>(indent), ' ');
  }

  std::string text_;
};

}  // namespace

std::string FormatYaml(const Node& node) {
  YamlWriter writer;
  writer.Value(node, 0);
  return writer.Take() + "\n";
}

}  // namespace prism::query
