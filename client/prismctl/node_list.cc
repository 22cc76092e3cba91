#include "client/prismctl/node_list.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <filesystem>
#include <map>

#include "client/prismctl/input_file.h"
#include "core/query/node.h"

namespace prism::prismctl {
namespace {

// No cluster has more.
constexpr uint32_t kMostNodes = 1 << 20;

// "3" or "3-7". False for anything else.
bool ParseRange(const std::string& word, uint32_t& first, uint32_t& last) {
  const std::vector<std::string> ends = absl::StrSplit(word, '-');
  if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first) ||
      !absl::SimpleAtoi(ends.back(), &last)) {
    return false;
  }
  return first <= last && last < kMostNodes;
}

}  // namespace

absl::StatusOr<std::vector<uint32_t>> ParseNodes(
    const std::string& text, const prism::v1::Cluster& cluster) {
  std::map<std::string, uint32_t> named;
  for (int i = 0; i < cluster.node_names_size(); ++i) {
    named[cluster.node_names(i)] = static_cast<uint32_t>(i);
  }
  std::vector<uint32_t> nodes;
  const std::vector<std::string> words =
      absl::StrSplit(text, absl::ByAnyChar(", \t\r\n"), absl::SkipEmpty());
  for (const std::string& word : words) {
    const auto found = named.find(word);
    uint32_t first = 0, last = 0;
    if (found != named.end()) {
      nodes.push_back(found->second);
    } else if (ParseRange(word, first, last)) {
      for (uint32_t node = first; node <= last; ++node) nodes.push_back(node);
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "has ", query::Quote(word),
          "; must be numbers of nodes, ranges like 0-7, names of nodes, or a "
          "file that holds such"));
    }
  }
  if (nodes.empty()) {
    return absl::InvalidArgumentError("names no node; must name at least one");
  }
  return nodes;
}

absl::StatusOr<std::vector<uint32_t>> ReadNodes(
    const std::string& value, std::istream& in,
    const prism::v1::Cluster& cluster) {
  std::error_code error;
  if (value != "-" && !std::filesystem::exists(value, error)) {
    return ParseNodes(value, cluster);
  }
  const auto text = ReadInput(value, in);
  if (!text.ok()) return text.status();
  return ParseNodes(*text, cluster);
}

}  // namespace prism::prismctl
