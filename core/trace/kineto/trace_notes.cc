#include "core/trace/kineto/trace_notes.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <set>

namespace prism::kineto {
namespace {

// A clock that is ahead by less is within what a profiler resolves.
constexpr int64_t kNotableShiftNs = 1'000'000;

std::string Places(int64_t count) {
  return count == 1 ? "1 damaged place"
                    : absl::StrCat(count, " damaged places");
}

std::string FormatMs(double ns) { return absl::StrFormat("%.3f ms", ns / 1e6); }

std::string MarkText(const JoinedTrace& joined) {
  switch (joined.mark) {
    case StepMark::kGiven:
    case StepMark::kProfilerStep:
      return "";
    case StepMark::kOptimizer:
      return "no ProfilerStep is marked: a step is taken to last from the end "
             "of one optimizer step to the end of the next";
    case StepMark::kWholeFile:
      return "no step is marked: all device activity of a file is taken as "
             "one step; --set step=NAME names annotations that mark steps";
  }
  return "";
}

std::string ClockText(const JoinedTrace& joined) {
  double sum = 0;
  for (const JoinedStep& step : joined.steps)
    sum += static_cast<double>(step.duration_ns);
  const double mean = sum / static_cast<double>(joined.steps.size());
  return absl::StrCat(
      "the host runs ahead of the device: a step is measured on the device, "
      "where it lasts ",
      FormatMs(mean), " on average; between the host's marks it is ",
      FormatMs(joined.marked_mean_ns), " (--set clock=host takes those)");
}

void AddMissingCalls(const JoinedTrace& joined,
                     std::vector<std::string>& notes) {
  if (joined.traces.size() < 2) return;
  int64_t calls = 0, matched = 0;
  for (const CollectiveUse& use : joined.collectives.uses) {
    if (use.ranks < 2) continue;
    calls += use.calls;
    matched += use.matched;
  }
  if (matched == calls) return;
  notes.push_back(absl::StrCat(
      calls - matched, " of ", calls,
      " collective calls have no partner in the other traces: their waiting "
      "is not told from their transfer"));
}

void AddClockShifts(const JoinedTrace& joined,
                    std::vector<std::string>& notes) {
  for (size_t t = 0; t < joined.traces.size(); ++t) {
    const int64_t ahead = joined.collectives.clock_ahead_ns[t];
    if (std::abs(ahead) < kNotableShiftNs) continue;
    notes.push_back(absl::StrCat("the clock of ", joined.traces[t].file, " is ",
                                 FormatMs(static_cast<double>(std::abs(ahead))),
                                 ahead > 0 ? " ahead of " : " behind ",
                                 joined.traces[0].file));
  }
}

void AddMissingRanks(const JoinedTrace& joined,
                     std::vector<std::string>& notes) {
  int64_t world = 0;
  for (const KernelTrace& trace : joined.traces)
    world = std::max(world, trace.world_size.value_or(0));
  const auto read = static_cast<int64_t>(joined.traces.size());
  if (world <= read) return;
  notes.push_back(absl::StrCat(
      "traces of ", read, " of ", world,
      " ranks were read: waiting for the others counts as communication"));
}

}  // namespace

std::vector<std::string> NotesOfDamage(const std::string& file,
                                       const Damage& damage, int64_t events) {
  std::vector<std::string> notes;
  if (damage.count() == 0) return notes;
  notes.push_back(absl::StrCat(file, " has ", Places(damage.count()),
                               "; the rest of its ", events,
                               " events was read"));
  for (const DamagedPlace& place : damage.named())
    notes.push_back(
        absl::StrCat(file, ", byte ", place.byte, ": ", place.what));
  const int64_t more =
      damage.count() - static_cast<int64_t>(damage.named().size());
  if (more > 0) notes.push_back(absl::StrCat(file, ": and ", more, " more"));
  return notes;
}

std::vector<std::string> NotesOfFile(const KernelTrace& trace,
                                     const Steps& steps) {
  std::vector<std::string> notes =
      NotesOfDamage(trace.file, trace.damage, trace.events);
  for (const auto& [field, count] : trace.unknown_fields)
    notes.push_back(absl::StrCat(trace.file, ": unknown field ", field, " of ",
                                 count, " events is ignored"));
  if (trace.unlaunched > 0) {
    notes.push_back(absl::StrCat(
        trace.file, ": the launch of ", trace.unlaunched, " of ",
        trace.activities.size(),
        " device activities is not recorded: their start counts for it, and "
        "they count as forward"));
  }
  if (!steps.empty.empty()) {
    notes.push_back(absl::StrCat(trace.file, ": nothing ran on the device in ",
                                 absl::StrJoin(steps.empty, ", "),
                                 ", which is left out"));
  }
  return notes;
}

std::vector<std::string> NotesOfJoin(const JoinedTrace& joined) {
  std::vector<std::string> notes;
  if (std::string text = MarkText(joined); !text.empty()) notes.push_back(text);
  if (joined.clock == StepClock::kDevice && joined.mark != StepMark::kWholeFile)
    notes.push_back(ClockText(joined));
  if (joined.activities_outside > 0) {
    notes.push_back(absl::StrCat(
        joined.activities_outside, " of ",
        joined.activities_outside + joined.activities_in_steps,
        " device activities begin in no step and are not counted"));
  }
  AddMissingRanks(joined, notes);
  AddClockShifts(joined, notes);
  AddMissingCalls(joined, notes);
  return notes;
}

}  // namespace prism::kineto
