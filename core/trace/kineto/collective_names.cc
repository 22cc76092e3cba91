#include "core/trace/kineto/collective_names.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_replace.h>

#include <array>
#include <utility>

namespace prism::kineto {
namespace {

using Entry = std::pair<std::string_view, std::string_view>;

// The first that is contained in the name, lower case without underscores,
// hyphens and spaces, counts.
constexpr std::array<Entry, 15> kKinds = {{
    {"allreduce", "all-reduce"},
    {"allgather", "all-gather"},
    {"reducescatter", "reduce-scatter"},
    {"alltoall", "all-to-all"},
    {"all2all", "all-to-all"},
    {"broadcast", "broadcast"},
    {"sendrecv", "send-recv"},
    {"barrier", "barrier"},
    {"coalesced", "unknown"},
    {"gather", "gather"},
    {"scatter", "scatter"},
    {"reduce", "reduce"},
    {"nccl:send", "send-recv"},
    {"nccl:recv", "send-recv"},
    {"p2p", "send-recv"},
}};

struct Type {
  std::string_view name;
  int64_t bytes;
};

constexpr std::array<Type, 25> kTypes = {{
    {"double", 8},         {"float64", 8},       {"long", 8},
    {"int64", 8},          {"long int", 8},      {"float", 4},
    {"float32", 4},        {"int", 4},           {"int32", 4},
    {"half", 2},           {"float16", 2},       {"bfloat16", 2},
    {"short", 2},          {"int16", 2},         {"char", 1},
    {"int8", 1},           {"byte", 1},          {"uint8", 1},
    {"bool", 1},           {"unsigned char", 1}, {"signed char", 1},
    {"float8_e4m3fn", 1},  {"float8_e5m2", 1},   {"complexfloat", 8},
    {"complexdouble", 16},
}};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string Lower(std::string_view text) {
  return absl::AsciiStrToLower({text.data(), text.size()});
}

}  // namespace

bool IsCommunicationKernel(std::string_view name) {
  const std::string lower = Lower(name);
  return Contains(lower, "nccl") || Contains(lower, "rccl") ||
         Contains(lower, "msccl");
}

std::string CollectiveKind(std::string_view name) {
  // Arguments may name anything.
  const std::string plain = absl::StrReplaceAll(
      Lower(name.substr(0, name.find('('))), {{"_", ""}, {"-", ""}, {" ", ""}});
  if (plain == "send" || plain == "recv") return "send-recv";
  for (const auto& [part, kind] : kKinds)
    if (Contains(plain, part)) return std::string(kind);
  return "unknown";
}

int64_t ElementBytes(std::string_view type) {
  std::string lower = Lower(type);
  const size_t scope = lower.rfind("::");
  if (scope != std::string::npos) lower = lower.substr(scope + 2);
  for (const Type& known : kTypes)
    if (known.name == lower) return known.bytes;
  return 0;
}

}  // namespace prism::kineto
