#include "core/explain/path_shares.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

namespace prism::explain {
namespace {

using step::FactorClass;
using step::RankGrid;
using step::StepGraph;
using step::Task;

constexpr double kMostDraws = 1e8;
constexpr double kMostPaths = 256;
constexpr double kFewestPaths = 4;
// Where so many steps cannot be drawn, none is.
constexpr double kMostDrawsForFewest = 1e9;
// Paths between two looks at the deadline.
constexpr int64_t kRound = 8;

// Which sources a piece of a path belongs to.
class Index {
 public:
  Index(const StepGraph& graph, const std::vector<Source>& sources)
      : graph_(graph), of_stage_(graph.grid.stages, -1) {
    for (size_t i = 0; i < sources.size(); ++i) Add(sources[i], i);
  }

  // Calls `found` with the number of every source that the piece is in.
  template <typename Found>
  void ForSources(const PathPiece& piece, const Found& found) const {
    const int factor_class =
        static_cast<int>(piece.task == nullptr ? FactorClass::kNetwork
                                               : piece.task->factor_class);
    for (const auto& [source, shared] : shared_) {
      if (shared->applies_to[factor_class]) found(source);
    }
    if (piece.task == nullptr) {
      if (hops_ >= 0) found(hops_);
      return;
    }
    if (const auto of = of_task_.find(piece.task); of != of_task_.end()) {
      found(of->second);
    }
    if (of_stage_[piece.stage] >= 0) found(of_stage_[piece.stage]);
    // What a group runs together is no rank's own.
    if (piece.task->group != step::kNoGroup) return;
    const RankGrid& grid = graph_.grid;
    const int64_t rank =
        (int64_t{piece.replica} * grid.stages + piece.stage) * grid.lanes +
        piece.lane;
    if (const auto of = of_rank_.find(rank); of != of_rank_.end()) {
      found(of->second);
    }
  }

 private:
  void Add(const Source& source, size_t i) {
    const int number = static_cast<int>(i);
    for (const TaskPlace& place : source.tasks) {
      of_task_[&graph_.programs[place.program]
                    .segments[place.segment]
                    .tasks[place.task]] = number;
    }
    if (source.hops) hops_ = number;
    if (source.stage) of_stage_[*source.stage] = number;
    for (const int64_t rank : source.ranks) of_rank_[rank] = number;
    if (source.shared_factor) {
      shared_.push_back(
          {number, &graph_.shared_factors[*source.shared_factor]});
    }
  }

  const StepGraph& graph_;
  absl::flat_hash_map<const Task*, int> of_task_;
  absl::flat_hash_map<int64_t, int> of_rank_;
  std::vector<int> of_stage_;
  std::vector<std::pair<int, const step::SharedFactor*>> shared_;
  int hops_ = -1;
};

int64_t Affordable(const step::CompiledGraph& compiled) {
  const double draws = step::DrawsPerStep(compiled);
  if (kFewestPaths * draws > kMostDrawsForFewest) return 0;
  return static_cast<int64_t>(
      std::clamp(kMostDraws / draws, kFewestPaths, kMostPaths));
}

}  // namespace

PathShares FollowSources(const step::CompiledGraph& compiled,
                         const std::vector<Source>& sources,
                         uint64_t random_key, const base::Budget& budget) {
  PathShares shares;
  shares.of_source.resize(sources.size());
  if (!HasCriticalPaths(compiled)) return shares;
  const Index index(*compiled.graph, sources);
  std::vector<double> seconds(sources.size(), 0);
  std::vector<int64_t> last_path(sources.size(), -1), times(sources.size(), 0);
  double total = 0;
  const auto take = [&](const PathPiece& piece) {
    index.ForSources(piece, [&](int source) {
      seconds[source] += piece.seconds;
      if (last_path[source] == shares.paths) return;
      last_path[source] = shares.paths;
      ++times[source];
    });
  };
  const auto sample_ends = [&](int64_t, double step_seconds) {
    total += step_seconds;
    ++shares.paths;
  };
  const int64_t wanted = Affordable(compiled);
  for (int64_t first = 0; first < wanted; first += kRound) {
    const int64_t count = std::min(kRound, wanted - first);
    if (!FollowCriticalPaths(compiled, random_key, first, count, budget, take,
                             sample_ends)) {
      break;
    }
  }
  for (size_t i = 0; i < sources.size() && total > 0; ++i) {
    shares.of_source[i] = {
        seconds[i] / total,
        static_cast<double>(times[i]) / static_cast<double>(shares.paths)};
  }
  return shares;
}

}  // namespace prism::explain
