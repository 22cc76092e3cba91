#include "core/trace/kineto/breakdown.h"

#include <algorithm>

namespace prism::kineto {
namespace {

// A stretch of the device's time.
struct Piece {
  int64_t start_ns, end_ns;
  ActivityKind kind;
  Phase phase;
};
// In order, not overlapping.
using Cover = std::vector<Piece>;

// When anything of `kind` runs; where several do, the first of them counts.
Cover CoverOf(const KernelTrace& trace, ActivityKind kind) {
  Cover cover;
  int64_t covered = INT64_MIN;
  for (const Activity& activity : trace.activities) {
    if (activity.kind != kind || activity.end_ns <= covered) continue;
    cover.push_back({std::max(activity.start_ns, covered), activity.end_ns,
                     kind, activity.phase});
    covered = activity.end_ns;
  }
  return cover;
}

// The parts of `cover` outside of `taken`.
Cover Outside(const Cover& cover, const Cover& taken) {
  Cover outside;
  size_t next = 0;
  for (const Piece& piece : cover) {
    int64_t at = piece.start_ns;
    while (next < taken.size() && taken[next].end_ns <= at) ++next;
    for (size_t i = next; i < taken.size() && at < piece.end_ns; ++i) {
      if (taken[i].start_ns >= piece.end_ns) break;
      if (taken[i].start_ns > at)
        outside.push_back({at, taken[i].start_ns, piece.kind, piece.phase});
      at = taken[i].end_ns;
    }
    if (at < piece.end_ns)
      outside.push_back({at, piece.end_ns, piece.kind, piece.phase});
  }
  return outside;
}

Cover Merge(const Cover& a, const Cover& b) {
  Cover merged(a.size() + b.size());
  std::merge(
      a.begin(), a.end(), b.begin(), b.end(), merged.begin(),
      [](const Piece& x, const Piece& y) { return x.start_ns < y.start_ns; });
  return merged;
}

// What the device does at every instant at which it does anything.
Cover Exclusive(const Cover& compute, const Cover& communication,
                const Cover& copies) {
  const Cover busy = Merge(compute, Outside(communication, compute));
  return Merge(busy, Outside(copies, busy));
}

void Count(const Piece& piece, int64_t ns, StepBreakdown& step) {
  PhaseTime& phase = step.phases[static_cast<size_t>(piece.phase)];
  switch (piece.kind) {
    case ActivityKind::kCompute:
      phase.compute_ns += ns;
      break;
    case ActivityKind::kCommunication:
      phase.exposed_communication_ns += ns;
      break;
    case ActivityKind::kMemory:
      phase.exposed_copy_ns += ns;
      break;
  }
}

size_t FirstEndingAfter(const Cover& cover, int64_t at) {
  return static_cast<size_t>(
      std::upper_bound(cover.begin(), cover.end(), at,
                       [](int64_t t, const Piece& p) { return t < p.end_ns; }) -
      cover.begin());
}

StepBreakdown BreakDownStep(const Cover& cover, const StepWindow& window) {
  StepBreakdown step;
  int64_t at = window.start_ns;
  Phase phase = Phase::kForward;
  for (size_t i = FirstEndingAfter(cover, at);
       i < cover.size() && cover[i].start_ns < window.end_ns; ++i) {
    const int64_t start = std::max(cover[i].start_ns, at);
    const int64_t end = std::min(cover[i].end_ns, window.end_ns);
    phase = cover[i].phase;
    step.phases[static_cast<size_t>(phase)].idle_ns += start - at;
    Count(cover[i], end - start, step);
    at = end;
  }
  step.phases[static_cast<size_t>(phase)].idle_ns += window.end_ns - at;
  return step;
}

int64_t CoveredIn(const Cover& cover, const StepWindow& window) {
  int64_t covered = 0;
  for (size_t i = FirstEndingAfter(cover, window.start_ns);
       i < cover.size() && cover[i].start_ns < window.end_ns; ++i) {
    covered += std::min(cover[i].end_ns, window.end_ns) -
               std::max(cover[i].start_ns, window.start_ns);
  }
  return covered;
}

}  // namespace

PhaseTime& PhaseTime::operator+=(const PhaseTime& other) {
  compute_ns += other.compute_ns;
  exposed_communication_ns += other.exposed_communication_ns;
  exposed_copy_ns += other.exposed_copy_ns;
  idle_ns += other.idle_ns;
  return *this;
}

PhaseTime StepBreakdown::sum() const {
  PhaseTime sum;
  for (const PhaseTime& phase : phases) sum += phase;
  return sum;
}

std::vector<StepBreakdown> BreakDown(const KernelTrace& trace,
                                     const std::vector<StepWindow>& windows) {
  const Cover communication = CoverOf(trace, ActivityKind::kCommunication);
  const Cover cover =
      Exclusive(CoverOf(trace, ActivityKind::kCompute), communication,
                CoverOf(trace, ActivityKind::kMemory));
  std::vector<StepBreakdown> steps;
  for (const StepWindow& window : windows) {
    steps.push_back(BreakDownStep(cover, window));
    steps.back().communication_ns = CoveredIn(communication, window);
  }
  return steps;
}

}  // namespace prism::kineto
