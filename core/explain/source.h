// Source: something in a step that takes time and varies, and what the step is
// where it does so as is typical.
//
// Sources of one graph overlap: a stage runs all kinds of computation, and a
// shared factor multiplies draws of many kinds. Each is looked at by itself.
#ifndef PRISM_CORE_EXPLAIN_SOURCE_H_
#define PRISM_CORE_EXPLAIN_SOURCE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/step/step_graph.h"

namespace prism::explain {

enum class By { kKind, kCollective, kShared, kStage, kRank };

// Where a task stands in a graph: indices.
struct TaskPlace {
  int program = 0;
  int segment = 0;
  int task = 0;

  auto operator<=>(const TaskPlace&) const = default;
};

struct Source {
  By by = By::kKind;
  std::string name;
  // What it is; all that is not of its sort is empty.
  std::vector<TaskPlace> tasks = {};
  bool hops = false;
  std::optional<int> shared_factor = {};
  std::optional<int> stage = {};
  std::vector<int64_t> ranks = {};
  // Of a stage, its computation over that of the median stage; of ranks, their
  // slowdown over the median rank's. Else 1.
  double excess = 1;
};

// A node's or another group's ranks, which are slow or fast together.
struct RankGroup {
  std::string name;
  std::vector<int64_t> ranks;
};

// Stages and ranks of a graph that are looked at, at most; those with the
// largest excess.
inline constexpr int kMostStages = 16;
inline constexpr int kMostRankGroups = 16;

struct Sources {
  std::vector<Source> list;
  int left_out = 0;
};

// The sources of `graph` that its step depends on: kinds, collectives, shared
// factors that vary, stages where there are several, and of the ranks those
// slower than the median. Any other is what takes its place already. Of
// `groups` each is one source; empty: each rank by itself.
//
// Requires: the graph can be compiled; ranks of groups exist, each in one
// group.
Sources FindSources(const step::StepGraph& graph,
                    const std::vector<RankGroup>& groups = {});

// The source that people call `name`: kinds and collectives by all of a name or
// its beginning before a dot, then all of them together; stages and ranks also
// those that FindSources leaves out, "stage:3" for "stage 3".
//
// Errors: NOT_FOUND; the message has the names there are.
absl::StatusOr<Source> FindSource(const step::StepGraph& graph,
                                  const std::vector<RankGroup>& groups,
                                  std::string_view name);

// Copies of `graph` in which the source is typical: draws are their means, a
// stage computes no more than the median stage, ranks are as slow as the median
// rank. Draws of all else stay those they are.
step::StepGraph WithTypical(const step::StepGraph& graph, const Source& source);

// In which everything that the source takes is `factor` times as long.
//
// Requires: factor >= 0, above 0 of stages and ranks.
step::StepGraph WithScaled(const step::StepGraph& graph, const Source& source,
                           double factor);

// Seconds that the operations of each stage compute in one step of one replica,
// at means, slowdowns aside.
std::vector<double> ComputeOfStages(const step::StepGraph& graph);

}  // namespace prism::explain

#endif  // PRISM_CORE_EXPLAIN_SOURCE_H_
