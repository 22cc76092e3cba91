#include "core/step/composition/sharded_program.h"

#include <algorithm>
#include <utility>

#include "core/step/composition/sharded_budget.h"

namespace prism::step {
namespace {

enum class Join { kNone, kLanes, kReplicas };

class Cutter {
 public:
  Cutter(const CompiledGraph& compiled, int most_meetings)
      : compiled_(compiled),
        graph_(*compiled.graph),
        most_meetings_(most_meetings),
        has_load_(HasLoad()) {}

  std::optional<ShardedProgram> Cut(const base::Budget& budget) {
    if (graph_.grid.stages != 1 || graph_.virtual_stages() != 1) {
      return std::nullopt;
    }
    for (const Operation& operation : graph_.order[0]) {
      if (IsOver(budget)) return std::nullopt;
      const int program =
          graph_.program_of[static_cast<int>(operation.phase)][0];
      if (!AddProgram(program, operation.microbatch)) return std::nullopt;
    }
    if (!AddProgram(graph_.closing[0], kAbsent)) return std::nullopt;
    EndStretch(kAbsent);
    if (mixes_loads_) return std::nullopt;
    return std::move(result_);
  }

 private:
  bool HasLoad() const {
    return std::any_of(
        graph_.shared_factors.begin(), graph_.shared_factors.end(),
        [](const SharedFactor& factor) {
          return factor.scope == FactorScope::kReplicaMicrobatch &&
                 !factor.distribution.IsConstant();
        });
  }

  std::optional<Join> JoinOf(const Task& task) const {
    if (task.group == kNoGroup) return Join::kNone;
    const Group& group = graph_.groups[task.group];
    const RankGrid& grid = graph_.grid;
    if (task.factor_class != FactorClass::kNetwork) return std::nullopt;
    if (static_cast<size_t>(task.group) < graph_.group_factor.size() &&
        !graph_.group_factor[task.group].empty()) {
      return std::nullopt;
    }
    if (group.lane_count == 1 && group.replica_count == 1) return Join::kNone;
    if (group.lane_count == 1 && group.replica_count == grid.replicas) {
      return Join::kReplicas;
    }
    if (group.lane_count == grid.lanes && group.replica_count == 1) {
      return Join::kLanes;
    }
    return std::nullopt;
  }

  bool AddProgram(int program, int microbatch) {
    if (!compiled_.is_chain[program]) return false;
    microbatch_ = has_load_ ? microbatch : kAbsent;
    for (const Segment& segment : graph_.programs[program].segments) {
      if (!AddSegment(segment)) return false;
    }
    return true;
  }

  bool AddSegment(const Segment& segment) {
    bool lanes_meet = false, replicas_meet = false;
    for (const Task& task : segment.tasks) {
      const auto join = JoinOf(task);
      if (!join.has_value()) return false;
      lanes_meet = lanes_meet || *join == Join::kLanes;
      replicas_meet = replicas_meet || *join == Join::kReplicas;
    }
    const auto count = static_cast<double>(segment.count);
    if (!lanes_meet && !replicas_meet) {
      AddPass(segment, count);
      return true;
    }
    // From the second pass on all passes are alike.
    if (replicas_meet && lanes_meet) {
      for (int64_t i = 0; i < segment.count; ++i) {
        if (meetings_ > most_meetings_) return false;
        AddPass(segment, 1);
      }
      return true;
    }
    AddPass(segment, 1);
    if (segment.count == 1) return meetings_ <= most_meetings_;
    const size_t run = result_.runs.size();
    const size_t meeting = stretch_.meetings.size();
    AddPass(segment, 1);
    for (size_t i = meeting; !replicas_meet && i < stretch_.meetings.size();
         ++i) {
      stretch_.meetings[i].count = count - 1;
    }
    for (size_t i = run; i < result_.runs.size(); ++i) {
      result_.runs[i].count = count - 1;
    }
    return meetings_ <= most_meetings_;
  }

  void AddPass(const Segment& segment, double count) {
    for (const Task& task : segment.tasks) {
      switch (*JoinOf(task)) {
        case Join::kNone:
          AddOwn(task, count);
          break;
        case Join::kLanes:
          stretch_.meetings.push_back(
              {std::exchange(stretch_.work, {}), task.distribution, 1});
          break;
        case Join::kReplicas:
          EndStretch(task.distribution);
          break;
      }
    }
  }

  void AddOwn(const Task& task, double count) {
    const auto& law = graph_.distributions[task.distribution];
    if (law.IsConstant() && law.Mean() == 0) return;
    if (task.factor_class == FactorClass::kCompute && microbatch_ != kAbsent) {
      mixes_loads_ = mixes_loads_ ||
                     (stretch_load_ != kAbsent && stretch_load_ != microbatch_);
      stretch_load_ = microbatch_;
    }
    // Without loads the order of draws does not matter.
    for (OwnDraw& draw : stretch_.work) {
      if (draw.distribution == task.distribution &&
          draw.factor_class == task.factor_class) {
        draw.count += count;
        return;
      }
    }
    stretch_.work.push_back({task.distribution, task.factor_class, count});
  }

  void EndStretch(int collective) {
    stretch_.collective = collective;
    if (!stretch_.meetings.empty()) ++meetings_;
    auto& all = result_.stretches;
    auto known = std::find(all.begin(), all.end(), stretch_);
    if (known == all.end()) known = all.insert(all.end(), stretch_);
    result_.runs.push_back(
        {static_cast<int>(known - all.begin()), stretch_load_, 1});
    stretch_ = {};
    stretch_load_ = kAbsent;
  }

  const CompiledGraph& compiled_;
  const StepGraph& graph_;
  const int most_meetings_;
  const bool has_load_;
  int microbatch_ = kAbsent;
  Stretch stretch_;
  int stretch_load_ = kAbsent;
  bool mixes_loads_ = false;
  int meetings_ = 0;
  ShardedProgram result_;
};

}  // namespace

std::optional<ShardedProgram> CutAtBarriers(const CompiledGraph& compiled,
                                            int most_meetings,
                                            const base::Budget& budget) {
  return Cutter(compiled, most_meetings).Cut(budget);
}

}  // namespace prism::step
