#include "core/estimate/pipeline_clock.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace prism::estimate {
namespace {

using step::ScheduleKind;

constexpr double kNothing = -std::numeric_limits<double>::infinity();

// Rounding of the sums of one round, as a share of the clock.
constexpr double kRounding = 8e-15;

bool LaterBy(double added, const std::vector<double>& now,
             const std::vector<double>& before) {
  for (size_t i = 0; i < now.size(); ++i) {
    if (std::abs(now[i] - before[i] - added) > kRounding * now[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool PipelineClock::Runs(ScheduleKind schedule, int stages, int microbatches) {
  switch (schedule) {
    case ScheduleKind::kGpipe:
    case ScheduleKind::kOneForwardOneBackward:
      return true;
    case ScheduleKind::kInterleaved:
      return microbatches % stages == 0;
    default:
      return false;
  }
}

const std::vector<double>& PipelineClock::StageEnds(
    const PipelineTimes& times) {
  Start(times);
  const bool interleaved = times.schedule == ScheduleKind::kInterleaved;
  if (times.schedule == ScheduleKind::kGpipe) {
    RunGpipe();
  } else if (interleaved && times.microbatches == times.stages) {
    RunOneRound();
  } else {
    RunRounds();
  }
  return state_.free;
}

void PipelineClock::Start(const PipelineTimes& times) {
  times_ = &times;
  const auto stages = static_cast<size_t>(times.stages);
  count_ = static_cast<int64_t>(times.microbatches) * times.chunks;
  ahead_ = times.schedule == ScheduleKind::kInterleaved
               ? 2 * (times.stages - 1) + (times.chunks - 1) * times.stages
               : times.stages - 1;
  for (auto* clock : {&state_.free, &state_.forward, &state_.backward}) {
    clock->assign(stages, 0);
  }
  for (auto* row : {&forward_, &forward_hop_, &backward_, &backward_hop_}) {
    row->resize(stages);
  }
  for (int s = 0; s < times.stages; ++s) {
    TakeForward(s, 0);
    TakeBackward(s, times.chunks - 1);
  }
}

void PipelineClock::TakeForward(int s, int chunk) {
  const int u = chunk * times_->stages + s;
  forward_[s] = times_->forward[u];
  forward_hop_[s] = u > 0 ? times_->forward_hop[u - 1] : kNothing;
}

void PipelineClock::TakeBackward(int s, int chunk) {
  const int u = chunk * times_->stages + s;
  const int last = times_->stages * times_->chunks - 1;
  backward_[s] = times_->backward[u];
  backward_hop_[s] = u < last ? times_->backward_hop[u] : kNothing;
}

// The longest way through a lattice of stages and micro-batches stays on the
// slowest stage that it passes.
void PipelineClock::RunGpipe() {
  const int stages = times_->stages;
  const double more = times_->microbatches - 1;
  double way = 0, slowest = 0;
  for (int s = 0; s < stages; ++s) {
    way += (s > 0 ? forward_hop_[s] : 0) + forward_[s];
    slowest = std::max(slowest, forward_[s]);
    state_.forward[s] = way + more * slowest;
  }
  for (int end = 0; end < stages; ++end) {
    way = 0, slowest = 0;
    for (int s = end; s < stages; ++s) {
      way += (s > end ? backward_hop_[s - 1] : 0) + backward_[s];
      slowest = std::max(slowest, backward_[s]);
      state_.free[end] =
          std::max(state_.free[end], state_.forward[s] + way + more * slowest);
    }
  }
}

void PipelineClock::RunOneRound() {
  const int stages = times_->stages;
  const int chunks = times_->chunks;
  std::vector<double>& free = state_.free;
  // Ends on the stage at the far end, by micro-batch, of the chunk before.
  std::vector<double> arrived(static_cast<size_t>(stages), 0);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    for (int s = 0; s < stages; ++s) TakeForward(s, chunk);
    for (double& end : arrived) {
      for (int s = 0; s < stages; ++s) {
        free[s] = std::max(free[s], end + forward_hop_[s]) + forward_[s];
        end = free[s];
      }
    }
  }
  for (int chunk = chunks - 1; chunk >= 0; --chunk) {
    for (int s = 0; s < stages; ++s) TakeBackward(s, chunk);
    for (double& end : arrived) {
      for (int s = stages - 1; s >= 0; --s) {
        free[s] = std::max(free[s], end + backward_hop_[s]) + backward_[s];
        end = free[s];
      }
    }
  }
}

// Forward k of stage s is run in turn k + s - ahead_ (interleaved: stages are
// two forwards apart) or k - ahead_ (one apart), backward q in turn q - s.
void PipelineClock::RunRounds() {
  // Without chunks every turn is like the one before: look at some.
  const int64_t round =
      times_->chunks > 1 ? int64_t{times_->stages} * times_->chunks : 4;
  // All stages run both in turns from 0 to before this one.
  const int64_t steady_end = count_ - ahead_;
  bool has_before = false;
  for (int64_t turn = -ahead_; turn < count_; ++turn) {
    TurnForward(turn);
    TurnBackward(turn);
    if (turn < 0 || turn >= steady_end || turn % round != 0) continue;
    double added = 0;
    if (has_before && Repeats(added)) {
      const int64_t rounds = (steady_end - 1 - turn) / round;
      Advance(static_cast<double>(rounds) * added);
      turn += rounds * round;
    }
    before_ = state_;
    has_before = true;
  }
}

void PipelineClock::TurnForward(int64_t turn) {
  const int stages = times_->stages;
  std::vector<double>& free = state_.free;
  std::vector<double>& ends = state_.forward;
  const auto run = [&](int s, double arrived) {
    free[s] = std::max(free[s], arrived + forward_hop_[s]) + forward_[s];
    ends[s] = free[s];
  };
  const int64_t first = turn + ahead_;  // forward of stage 0
  if (times_->schedule != ScheduleKind::kInterleaved) {
    if (first >= count_) return;
    for (int s = 0; s < stages; ++s) run(s, s > 0 ? ends[s - 1] : 0);
    return;
  }
  const auto changing = static_cast<int>(first % stages);
  TakeForward(changing, static_cast<int>(first / stages % times_->chunks));
  const auto from = static_cast<int>(std::max<int64_t>(0, first - count_ + 1));
  const auto to = static_cast<int>(std::min<int64_t>(stages - 1, first));
  const double last_end = ends[stages - 1];
  for (int s = to; s >= from; --s) run(s, s > 0 ? ends[s - 1] : last_end);
}

void PipelineClock::TurnBackward(int64_t turn) {
  const int stages = times_->stages;
  std::vector<double>& free = state_.free;
  std::vector<double>& ends = state_.backward;
  const auto from = static_cast<int>(std::max<int64_t>(0, -turn));
  const auto to =
      static_cast<int>(std::min<int64_t>(stages - 1, count_ - 1 - turn));
  if (from > to) return;
  if (times_->chunks > 1) {
    const auto changing = static_cast<int>((stages - turn % stages) % stages);
    if (turn + changing >= 0) {
      const int64_t place = (turn + changing) / stages % times_->chunks;
      TakeBackward(changing, static_cast<int>(times_->chunks - 1 - place));
    }
  }
  const double first_end = ends[0];
  for (int s = from; s <= to; ++s) {
    const double arrived = s < stages - 1 ? ends[s + 1] : first_end;
    free[s] = std::max(free[s], arrived + backward_hop_[s]) + backward_[s];
    ends[s] = free[s];
  }
}

bool PipelineClock::Repeats(double& added) const {
  added = state_.free[0] - before_.free[0];
  return LaterBy(added, state_.free, before_.free) &&
         LaterBy(added, state_.forward, before_.forward);
}

void PipelineClock::Advance(double seconds) {
  for (auto* clock : {&state_.free, &state_.forward, &state_.backward}) {
    for (double& end : *clock) end += seconds;
  }
}

}  // namespace prism::estimate
