#include "core/trace/chakra/host_trace.h"

#include <absl/strings/match.h>
#include <absl/strings/string_view.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "core/trace/kineto/collective_names.h"

namespace prism::chakra {
namespace {

using Json = nlohmann::json;

// {"inputs": {"shapes": [[64, 3], ..], "types": ["Tensor(float)", ..]}}
std::optional<int64_t> FirstTensorBytes(const Json& node) {
  const Json inputs = node.value("inputs", Json::object());
  if (!inputs.is_object()) return std::nullopt;
  const Json shapes = inputs.value("shapes", Json::array());
  const Json types = inputs.value("types", Json::array());
  if (!shapes.is_array() || !types.is_array() || shapes.empty() ||
      types.empty() || !shapes[0].is_array() || !types[0].is_string())
    return std::nullopt;
  const std::string type = types[0].get<std::string>();
  if (!absl::StartsWith(type, "Tensor(") || type.back() != ')')
    return std::nullopt;
  int64_t bytes =
      kineto::ElementBytes(std::string_view(type).substr(7, type.size() - 8));
  if (bytes == 0) return std::nullopt;
  for (const Json& size : shapes[0]) {
    if (!size.is_number_integer() ||
        __builtin_mul_overflow(bytes, size.get<int64_t>(), &bytes))
      return std::nullopt;
  }
  return bytes;
}

void AddCollective(const Json& node, const std::string& name,
                   HostTrace& trace) {
  HostCollective& collective = trace.collectives[kineto::CollectiveKind(name)];
  ++collective.calls;
  if (const auto bytes = FirstTensorBytes(node)) {
    collective.bytes += *bytes;
  } else {
    ++collective.unknown_bytes;
  }
}

}  // namespace

absl::Status AddNode(std::string_view text, HostTrace& trace) {
  const Json node = Json::parse(text.begin(), text.end(), nullptr, false);
  if (node.is_discarded())
    return absl::InvalidArgumentError("a node is not JSON");
  const auto found = node.find("name");
  if (found == node.end() || !found->is_string())
    return absl::InvalidArgumentError("a node has no name");
  const std::string name = found->get<std::string>();
  ++trace.nodes;
  ++trace.operators[name];
  if (absl::StartsWith(name, "ProfilerStep#")) trace.steps.push_back(name);
  if (absl::StartsWith(name, "nccl:")) AddCollective(node, name, trace);
  return absl::OkStatus();
}

}  // namespace prism::chakra
