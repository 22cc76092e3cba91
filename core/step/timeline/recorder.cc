#include "core/step/timeline/recorder.h"

#include <algorithm>
#include <utility>

namespace prism::step {
namespace {

constexpr size_t kNowhere = static_cast<size_t>(-1);

}  // namespace

TimelineRecorder::TimelineRecorder(const CompiledGraph& compiled,
                                   const std::vector<SelectedRank>& ranks)
    : graph_(*compiled.graph), sent_(compiled.plan.slots) {
  const RankGrid& grid = graph_.grid;
  for (const SelectedRank& selected : ranks) {
    const int64_t cell = selected.rank / grid.lanes;
    Recorded recorded;
    recorded.rank = {.rank = selected.rank,
                     .replica = static_cast<int>(cell / grid.stages),
                     .stage = static_cast<int>(cell % grid.stages),
                     .lane = static_cast<int>(selected.rank % grid.lanes),
                     .has_tasks = selected.tasks,
                     .operations = {}};
    recorded.room = selected.most_operations;
    recorded_.push_back(std::move(recorded));
  }
  for (Sent& sent : sent_) sent.seconds.resize(recorded_.size());
}

std::vector<TimelineRank> TimelineRecorder::Take() {
  std::vector<TimelineRank> ranks;
  for (Recorded& recorded : recorded_) {
    ranks.push_back(std::move(recorded.rank));
  }
  recorded_.clear();
  return ranks;
}

void TimelineRecorder::BlockBegins(const Elements& elements) {
  stride_ = elements.stride();
  element_.assign(graph_.grid.replicas, kNowhere);
  for (size_t e = 0; e < elements.count; ++e) {
    element_[elements.replica[e]] = e;
  }
  for (Recorded& recorded : recorded_) {
    recorded.element = element_[recorded.rank.replica];
    recorded.here = recorded.element != kNowhere;
  }
}

void TimelineRecorder::OperationBegins(const PlannedOperation& planned,
                                       const double* free,
                                       const double* arrival) {
  stage_ = planned.stage;
  for (size_t i = 0; i < recorded_.size(); ++i) {
    Recorded& recorded = recorded_[i];
    if (!recorded.here || recorded.rank.stage != stage_) continue;
    recorded.open = recorded.room-- > 0;
    if (!recorded.open) continue;
    TimelineOperation operation;
    operation.operation = planned.operation;
    operation.id = planned.id;
    operation.ready_seconds = At(free, recorded);
    operation.begin_seconds = operation.ready_seconds;
    if (arrival != nullptr) {
      const Sent& sent = sent_[planned.receives];
      operation.input = {sent.id, sent.seconds[i], At(arrival, recorded)};
      operation.begin_seconds =
          std::max(operation.begin_seconds, operation.input->arrival_seconds);
    }
    recorded.rank.operations.push_back(std::move(operation));
  }
}

void TimelineRecorder::OperationEnds(const PlannedOperation& planned,
                                     const double* end, const double*) {
  End(planned.stage, end);
  if (planned.sends == kAbsent) return;
  Sent& sent = sent_[planned.sends];
  sent.id = planned.id;
  for (size_t i = 0; i < recorded_.size(); ++i) {
    if (recorded_[i].here) sent.seconds[i] = At(end, recorded_[i]);
  }
}

void TimelineRecorder::ClosingBegins(int stage, const double* begin) {
  stage_ = stage;
  for (Recorded& recorded : recorded_) {
    if (!recorded.here || recorded.rank.stage != stage_) continue;
    recorded.open = recorded.room-- > 0;
    if (!recorded.open) continue;
    const double ready = recorded.rank.operations.empty()
                             ? 0.0
                             : recorded.rank.operations.back().end_seconds;
    TimelineOperation closing;
    closing.ready_seconds = ready;
    closing.begin_seconds = At(begin, recorded);
    recorded.rank.operations.push_back(std::move(closing));
  }
}

void TimelineRecorder::ClosingEnds(int stage, const double* end) {
  End(stage, end);
}

void TimelineRecorder::End(int stage, const double* end) {
  for (Recorded& recorded : recorded_) {
    if (recorded.rank.stage != stage || !recorded.here || !recorded.open) {
      continue;
    }
    recorded.rank.operations.back().end_seconds = At(end, recorded);
    recorded.open = false;
  }
}

void TimelineRecorder::TaskEnds(const Task& task, const double* ready,
                                const double* end) {
  for (Recorded& recorded : recorded_) {
    if (recorded.rank.stage != stage_ || !recorded.open ||
        !recorded.rank.has_tasks) {
      continue;
    }
    recorded.rank.operations.back().tasks.push_back(
        {.kind = task.kind,
         .stream = task.stream,
         .ready_seconds = At(ready, recorded),
         .begin_seconds = LatestOfGroup(task, ready, recorded),
         .end_seconds = At(end, recorded)});
  }
}

double TimelineRecorder::LatestOfGroup(const Task& task, const double* ready,
                                       const Recorded& recorded) const {
  if (task.group == kNoGroup) return At(ready, recorded);
  const Group& group = graph_.groups[task.group];
  // The members stand on a lattice: from its first by equal strides.
  const auto first = [](int index, int stride, int count) {
    return index / (stride * count) * (stride * count) + index % stride;
  };
  const int lane =
      first(recorded.rank.lane, group.lane_stride, group.lane_count);
  const int replica =
      first(recorded.rank.replica, group.replica_stride, group.replica_count);
  double latest = 0;
  for (int r = 0; r < group.replica_count; ++r) {
    const size_t element = element_[replica + r * group.replica_stride];
    for (int l = 0; l < group.lane_count; ++l) {
      const int row = lane + l * group.lane_stride;
      latest = std::max(latest, ready[row * stride_ + element]);
    }
  }
  return latest;
}

}  // namespace prism::step
