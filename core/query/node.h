// Node: a document as a tree, before anyone asks what it means.
//
// Both text formats are parsed into it, so everything above them is written
// once. Plain values.
#ifndef PRISM_CORE_QUERY_NODE_H_
#define PRISM_CORE_QUERY_NODE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace prism::query {

struct Node;
struct Entry;

struct Node {
  using Null = std::monostate;
  using List = std::vector<Node>;
  // In the order of the text, duplicates included.
  using Map = std::vector<Entry>;
  // Integers that fit are int64_t, larger ones uint64_t, all else is double,
  // infinity and NaN included.
  using Value = std::variant<Null, bool, int64_t, uint64_t, double, std::string,
                             List, Map>;

  Value value;

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&value);
  }
};

struct Entry {
  std::string key;
  Node node;
};

// Nodes in the tree under `node`, itself included.
int64_t CountNodes(const Node& node);

// The value as a message to people shows it: 2.5, "abc", null, a list, a map.
std::string Describe(const Node& node);

// `text` in quotes, cut where it is long, unprintable bytes escaped.
std::string Quote(std::string_view text);

// `key` as a path shows it: cut where it is long, unprintable bytes escaped.
std::string ShownKey(std::string_view key);

bool IsUtf8(std::string_view text);

// Shortest decimal that reads back to the same bits.
std::string FormatNumber(double value);

// Builds a Node from events and stops at limits, so that no text can make it
// eat the machine.
class TreeBuilder {
 public:
  static constexpr int kMostDepth = 64;
  static constexpr int64_t kMostNodes = 4'000'000;

  // Each returns false once the tree is over a limit or has a second root;
  // everything after that is ignored.
  bool Add(Node::Value value);
  bool AddTree(Node tree);
  bool BeginList();
  bool BeginMap();
  // The key of the value that comes next in the innermost map.
  void Key(std::string key);
  // Ends the innermost list or map.
  void End();

  // True where the innermost open thing is a map that waits for a key.
  bool wants_key() const;
  int depth() const { return static_cast<int>(open_.size()); }
  // The innermost open list or map, or the last value added to it.
  const Node& last_closed() const { return *last_; }
  // Counts nodes that are kept outside of the tree.
  bool Charge(int64_t nodes);

  // Why the tree is incomplete; empty if it is not.
  const std::string& problem() const { return problem_; }
  Node& root() { return root_; }

 private:
  bool Begin(Node::Value value);
  Node* Place(Node node);
  bool Fail(std::string problem);

  Node root_;
  bool has_root_ = false;
  std::vector<Node*> open_;
  Node* last_ = &root_;
  std::string key_;
  bool has_key_ = false;
  int64_t nodes_ = 0;
  std::string problem_;
};

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_NODE_H_
