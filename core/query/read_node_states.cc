#include "core/query/read_node_states.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/query/read_distribution.h"

namespace prism::query {
namespace {

using hardware::Health;
using hardware::NodeState;
using hardware::PathState;

// A factor may be 0 no more often: what multiplies by it would take no time.
constexpr double kMostlyAboveZero = 1e-6;

struct Slowdown {
  std::optional<double> factor;
  std::optional<stats::Distribution> measured;
};

std::optional<stats::Distribution> ReadMeasured(
    const prism::v1::Distribution& message, const FieldPath& path,
    Checker& checker) {
  const int before = checker.failures();
  stats::Distribution factor = ReadFactor(message, path, checker);
  if (checker.failures() > before) return std::nullopt;
  const double zero = factor.Cdf(0);
  checker.Require(zero <= kMostlyAboveZero, path,
                  absl::StrCat("is 0 with probability ", zero,
                               "; must be above 0, because it multiplies"));
  return factor;
}

// Of messages with `slowdown` and `measured_slowdown`.
template <typename Message>
Slowdown ReadSlowdown(const Message& m, const FieldPath& path,
                      Checker& checker) {
  Slowdown slowdown;
  if (m.slowdown() != 0) {
    slowdown.factor = checker.Above(m.slowdown(), 0, path.Field("slowdown"));
  }
  if (!m.has_measured_slowdown()) return slowdown;
  const FieldPath measured = path.Field("measured_slowdown");
  checker.Require(m.slowdown() == 0, measured,
                  "is not allowed together with slowdown; give one of them");
  slowdown.measured = ReadMeasured(m.measured_slowdown(), measured, checker);
  if (slowdown.measured) slowdown.factor = slowdown.measured->Mean();
  return slowdown;
}

void CheckNode(int64_t node, int64_t nodes, const FieldPath& path,
               Checker& checker) {
  checker.Require(node < nodes, path,
                  absl::StrCat("is ", node, "; must be from 0 to ", nodes - 1));
}

Health ReadHealth(prism::v1::Health value, const FieldPath& path,
                  Checker& checker) {
  return checker.Choose<prism::v1::Health, Health>(
      value,
      {{prism::v1::HEALTH_UNSPECIFIED, Health::kHealthy},
       {prism::v1::HEALTH_HEALTHY, Health::kHealthy},
       {prism::v1::HEALTH_DEGRADED, Health::kDegraded},
       {prism::v1::HEALTH_DRAINED, Health::kDrained},
       {prism::v1::HEALTH_FAILED, Health::kFailed}},
      path);
}

NodeState ReadNodeState(const prism::v1::NodeState& m, const FieldPath& path,
                        Checker& checker) {
  Slowdown slowdown = ReadSlowdown(m, path, checker);
  NodeState state = {
      .node = m.node(),
      .slowdown = slowdown.factor,
      .measured_slowdown = std::move(slowdown.measured),
      .health = ReadHealth(m.health(), path.Field("health"), checker)};
  if (m.has_failures_per_day()) {
    state.failures_per_day = checker.AtLeast(m.failures_per_day(), 0,
                                             path.Field("failures_per_day"));
  }
  return state;
}

bool SaysNothing(const NodeState& state) {
  return !state.slowdown && !state.measured_slowdown &&
         state.health == Health::kHealthy && !state.failures_per_day;
}

PathState ReadPathState(const prism::v1::PathState& m, const FieldPath& path,
                        Checker& checker) {
  Slowdown slowdown = ReadSlowdown(m, path, checker);
  return {.from = std::min(m.from(), m.to()),
          .to = std::max(m.from(), m.to()),
          .slowdown = slowdown.factor.value_or(1),
          .measured_slowdown = std::move(slowdown.measured)};
}

bool SaysNothing(const PathState& state) {
  return state.slowdown == 1 && !state.measured_slowdown;
}

}  // namespace

std::vector<NodeState> ReadNodeStates(
    const google::protobuf::RepeatedPtrField<prism::v1::NodeState>& messages,
    int64_t nodes, const FieldPath& list, Checker& checker) {
  std::map<int64_t, NodeState> states;
  std::map<int64_t, int> seen;
  for (int i = 0; i < messages.size(); ++i) {
    const int64_t node = messages[i].node();
    const FieldPath item = list.Item(i);
    const FieldPath path = item.Field("node");
    CheckNode(node, nodes, path, checker);
    const auto [first, is_new] = seen.insert({node, i});
    checker.Require(
        is_new, path,
        absl::StrCat("is ", node, ", as is ", std::string(list.name()), "[",
                     first->second, "]; give each node once"));
    NodeState state = ReadNodeState(messages[i], item, checker);
    if (!SaysNothing(state)) states[node] = std::move(state);
  }
  std::vector<NodeState> sorted;
  for (auto& [node, state] : states) sorted.push_back(std::move(state));
  return sorted;
}

std::vector<PathState> ReadPathStates(
    const google::protobuf::RepeatedPtrField<prism::v1::PathState>& messages,
    int64_t nodes, const FieldPath& list, Checker& checker) {
  std::vector<PathState> states;
  std::map<std::pair<uint32_t, uint32_t>, int> seen;
  for (int i = 0; i < messages.size(); ++i) {
    const prism::v1::PathState& m = messages[i];
    const FieldPath item = list.Item(i);
    CheckNode(m.from(), nodes, item.Field("from"), checker);
    CheckNode(m.to(), nodes, item.Field("to"), checker);
    checker.Require(m.from() != m.to(), item.Field("to"),
                    absl::StrCat("is ", m.to(),
                                 ", as is from; must be another "
                                 "node"));
    const auto [first, is_new] = seen.insert(
        {std::pair(std::min(m.from(), m.to()), std::max(m.from(), m.to())), i});
    checker.Require(is_new, item,
                    absl::StrCat("joins ", m.from(), " and ", m.to(),
                                 ", as does ", std::string(list.name()), "[",
                                 first->second, "]; give each pair once"));
    PathState state = ReadPathState(m, item, checker);
    if (!SaysNothing(state)) states.push_back(std::move(state));
  }
  std::sort(states.begin(), states.end(), [](const auto& a, const auto& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  return states;
}

hardware::Reliability ReadReliability(const prism::v1::Reliability& message,
                                      const FieldPath& path, Checker& checker) {
  hardware::Reliability reliability;
  if (message.has_failures_per_node_day()) {
    reliability.failures_per_node_day =
        checker.AtLeast(message.failures_per_node_day(), 0,
                        path.Field("failures_per_node_day"));
  }
  if (message.has_rate_cv()) {
    reliability.rate_cv =
        checker.AtLeast(message.rate_cv(), 0, path.Field("rate_cv"));
  }
  if (message.has_repair_seconds()) {
    reliability.repair_seconds = ReadDistribution(
        message.repair_seconds(), path.Field("repair_seconds"), checker);
  }
  if (message.has_node_loss_share()) {
    reliability.node_loss_share = checker.Within(
        message.node_loss_share(), 0, 1, path.Field("node_loss_share"));
  }
  return reliability;
}

}  // namespace prism::query
