#include <absl/strings/str_cat.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "core/query/yaml_text.h"

namespace prism::query {
namespace {

std::string At(const YAML::Mark& mark) {
  return absl::StrCat("line ", mark.line + 1, ", column ", mark.column + 1);
}

bool IsTextTag(const std::string& tag) {
  return tag == "!" || tag == "tag:yaml.org,2002:str";
}

// Passes the parser's events on to a TreeBuilder and expands aliases. After
// the first problem events are ignored: the parser itself is linear in the
// text.
class YamlEvents final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (tree_.wants_key()) return Key(mark, "null");
    Scalar(mark, anchor, Node::Null());
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!problem_.empty()) return;
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) {
      return Fail(mark, "an alias refers to a value that contains it");
    }
    if (tree_.wants_key()) {
      return Fail(mark, "a key must be written out, not be an alias");
    }
    if (tree_.depth() + found->second.height > TreeBuilder::kMostDepth) {
      return Fail(mark, absl::StrCat("nests deeper than ",
                                     TreeBuilder::kMostDepth, " levels"));
    }
    if (!tree_.AddTree(found->second.node)) return Fail(mark, tree_.problem());
    Rise(found->second.height);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& value) override {
    if (tree_.wants_key()) return Key(mark, value);
    Scalar(mark, anchor,
           IsTextTag(tag) ? Node::Value(value) : ParsePlainScalar(value).value);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Begin(mark, anchor, /*map=*/false);
  }
  void OnSequenceEnd() override { End(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&,
                  YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    Begin(mark, anchor, /*map=*/true);
  }
  void OnMapEnd() override { End(); }

  const std::string& problem() const { return problem_; }
  Node Take() { return std::move(tree_.root()); }

 private:
  struct Anchored {
    Node node;
    int64_t nodes = 0;
    int height = 0;
  };

  struct Open {
    YAML::anchor_t anchor;
    int height;  // levels below, so far
  };

  void Key(const YAML::Mark&, std::string key) {
    if (problem_.empty()) tree_.Key(std::move(key));
  }

  void Scalar(const YAML::Mark& mark, YAML::anchor_t anchor,
              Node::Value value) {
    if (!problem_.empty()) return;
    if (!tree_.Add(std::move(value))) return Fail(mark, tree_.problem());
    if (anchor != YAML::NullAnchor) Remember(anchor, 0);
  }

  void Begin(const YAML::Mark& mark, YAML::anchor_t anchor, bool map) {
    if (!problem_.empty()) return;
    if (tree_.wants_key()) return Fail(mark, "a key must be a word");
    if (!(map ? tree_.BeginMap() : tree_.BeginList())) {
      return Fail(mark, tree_.problem());
    }
    open_.push_back({anchor, 1});
  }

  void End() {
    if (!problem_.empty()) return;
    tree_.End();
    const Open closed = open_.back();
    open_.pop_back();
    Rise(closed.height);
    if (closed.anchor != YAML::NullAnchor) {
      Remember(closed.anchor, closed.height);
    }
  }

  // The innermost open list or map holds a tree of `height` levels.
  void Rise(int height) {
    if (open_.empty()) return;
    open_.back().height = std::max(open_.back().height, height + 1);
  }

  void Remember(YAML::anchor_t anchor, int height) {
    const Node& node = tree_.last_closed();
    const int64_t nodes = CountNodes(node);
    if (!tree_.Charge(nodes)) {
      problem_ = tree_.problem();
      return;
    }
    anchored_[anchor] = {node, nodes, height};
  }

  void Fail(const YAML::Mark& mark, const std::string& problem) {
    if (problem_.empty()) problem_ = absl::StrCat(At(mark), ": ", problem);
  }

  TreeBuilder tree_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchored_;
  std::string problem_;
};

absl::Status Malformed(const std::string& problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("is not valid YAML: ", problem));
}

}  // namespace

absl::StatusOr<Node> ParseYaml(const std::string& text) {
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    YamlEvents events;
    parser.HandleNextDocument(events);
    if (!events.problem().empty()) {
      return absl::InvalidArgumentError(events.problem());
    }
    YamlEvents second;
    if (parser.HandleNextDocument(second)) {
      return absl::InvalidArgumentError("holds more than one document");
    }
    return events.Take();
  } catch (const YAML::Exception& error) {
    return Malformed(absl::StrCat(At(error.mark), ": ", error.msg));
  } catch (const std::exception& error) {
    return Malformed(error.what());
  }
}

}  // namespace prism::query
