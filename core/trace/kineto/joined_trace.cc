#include "core/trace/kineto/joined_trace.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/trace/kineto/trace_notes.h"

namespace prism::kineto {
namespace {

// Mean and spread of durations, one by one (Welford).
struct Tally {
  ActivityKind kind = ActivityKind::kCompute;
  int64_t count = 0;
  double mean = 0, squares = 0;

  void Add(double value) {
    ++count;
    const double from = value - mean;
    mean += from / static_cast<double>(count);
    squares += from * (value - mean);
  }
};

absl::Status CheckTraces(const std::vector<KernelTrace>& traces) {
  if (traces.empty()) return absl::InvalidArgumentError("no trace is given");
  std::map<int64_t, std::string> files;
  for (const KernelTrace& trace : traces) {
    if (trace.activities.empty()) {
      std::string text = absl::StrCat(
          trace.file, " shows no device activity in ", trace.events, " events");
      if (!trace.damage.named().empty())
        absl::StrAppend(&text, "; ", trace.damage.named().front().what);
      return absl::InvalidArgumentError(text);
    }
    if (!trace.rank) continue;
    const auto [other, added] = files.emplace(*trace.rank, trace.file);
    if (!added) {
      return absl::InvalidArgumentError(
          absl::StrCat(other->second, " and ", trace.file, " are both of rank ",
                       *trace.rank));
    }
  }
  return absl::OkStatus();
}

void OrderByRank(std::vector<KernelTrace>& traces) {
  std::set<int64_t> taken;
  for (const KernelTrace& trace : traces)
    if (trace.rank) taken.insert(*trace.rank);
  int64_t free = 0;
  for (KernelTrace& trace : traces) {
    if (trace.rank) continue;
    while (taken.contains(free)) ++free;
    trace.rank = free++;
  }
  std::stable_sort(traces.begin(), traces.end(),
                   [](const KernelTrace& a, const KernelTrace& b) {
                     return *a.rank < *b.rank;
                   });
}

std::vector<Steps> FindAllSteps(const std::vector<KernelTrace>& traces,
                                const StepOptions& options) {
  std::vector<Steps> all;
  for (const KernelTrace& trace : traces)
    all.push_back(FindSteps(trace, options));
  return all;
}

// Steps of all traces by one clock: the device's where any needs it.
std::vector<Steps> FindStepsOnOneClock(const std::vector<KernelTrace>& traces,
                                       const StepOptions& options) {
  std::vector<Steps> all = FindAllSteps(traces, options);
  const bool device = std::any_of(all.begin(), all.end(), [](const Steps& s) {
    return s.clock == StepClock::kDevice;
  });
  const bool host = std::any_of(all.begin(), all.end(), [](const Steps& s) {
    return s.clock == StepClock::kHost;
  });
  if (!device || !host) return all;
  return FindAllSteps(traces, {options.mark, StepClock::kDevice});
}

// For each joined step its place among the steps of each trace.
std::vector<std::vector<size_t>> CommonSteps(const std::vector<Steps>& all) {
  std::map<int64_t, std::vector<size_t>> places;
  size_t fewest = SIZE_MAX;
  for (const Steps& steps : all) {
    fewest = std::min(fewest, steps.windows.size());
    for (size_t i = 0; i < steps.windows.size(); ++i)
      places[steps.windows[i].number].push_back(i);
  }
  std::vector<std::vector<size_t>> common;
  for (auto& [number, place] : places)
    if (place.size() == all.size()) common.push_back(std::move(place));
  if (!common.empty()) return common;
  for (size_t i = 0; i < fewest; ++i) common.emplace_back(all.size(), i);
  return common;
}

void AddSteps(const std::vector<Steps>& all, JoinedTrace& joined) {
  std::vector<std::vector<StepBreakdown>> parts;
  for (size_t t = 0; t < all.size(); ++t)
    parts.push_back(BreakDown(joined.traces[t], all[t].windows));
  for (const std::vector<size_t>& place : CommonSteps(all)) {
    const StepWindow& first = all[0].windows[place[0]];
    JoinedStep step;
    step.number = first.number;
    step.name = first.name;
    int64_t marked = 0;
    for (size_t t = 0; t < all.size(); ++t) {
      const StepWindow& window = all[t].windows[place[t]];
      step.duration_ns =
          std::max(step.duration_ns, window.end_ns - window.start_ns);
      marked = std::max(marked, window.marked_ns);
      step.by_trace.push_back(parts[t][place[t]]);
    }
    joined.marked_mean_ns += static_cast<double>(marked);
    joined.steps.push_back(std::move(step));
  }
  if (!joined.steps.empty())
    joined.marked_mean_ns /= static_cast<double>(joined.steps.size());
}

bool InStep(const std::vector<StepWindow>& windows, int64_t at) {
  const auto next = std::upper_bound(
      windows.begin(), windows.end(), at,
      [](int64_t t, const StepWindow& w) { return t < w.start_ns; });
  return next != windows.begin() && at < std::prev(next)->end_ns;
}

using Tallies = std::map<std::string, Tally>;

void TallyTrace(const KernelTrace& trace, const Steps& steps,
                JoinedTrace& joined, Tallies& tallies) {
  for (const Activity& activity : trace.activities) {
    if (!InStep(steps.windows, activity.start_ns)) {
      ++joined.activities_outside;
      continue;
    }
    ++joined.activities_in_steps;
    Tally& tally = tallies[trace.names[activity.name]];
    tally.kind = activity.kind;
    tally.Add(static_cast<double>(activity.end_ns - activity.start_ns));
  }
}

std::vector<KernelUse> KernelUses(const Tallies& tallies) {
  double total = 0;
  for (const auto& [name, tally] : tallies)
    total += tally.mean * static_cast<double>(tally.count);
  std::vector<KernelUse> uses;
  for (const auto& [name, tally] : tallies) {
    const double count = static_cast<double>(tally.count);
    const double variance = tally.count < 2 ? 0 : tally.squares / (count - 1);
    uses.push_back({name, tally.kind, tally.count, tally.mean,
                    std::sqrt(variance),
                    total > 0 ? tally.mean * count / total : 0});
  }
  std::stable_sort(
      uses.begin(), uses.end(),
      [](const KernelUse& a, const KernelUse& b) { return a.share > b.share; });
  return uses;
}

}  // namespace

absl::StatusOr<JoinedTrace> Join(std::vector<KernelTrace> traces,
                                 const StepOptions& options) {
  if (absl::Status status = CheckTraces(traces); !status.ok()) return status;
  OrderByRank(traces);
  JoinedTrace joined;
  joined.traces = std::move(traces);
  const std::vector<Steps> all = FindStepsOnOneClock(joined.traces, options);
  joined.mark = all[0].mark;
  joined.clock = all[0].clock;
  AddSteps(all, joined);
  if (joined.steps.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no device activity lies in annotations that begin with \"",
        options.mark.value_or(""), "\" in every trace"));
  }
  Tallies tallies;
  for (size_t t = 0; t < all.size(); ++t)
    TallyTrace(joined.traces[t], all[t], joined, tallies);
  joined.kernels = KernelUses(tallies);
  joined.collectives = MatchCollectives(joined.traces);
  for (size_t t = 0; t < all.size(); ++t) {
    for (std::string& note : NotesOfFile(joined.traces[t], all[t]))
      joined.notes.push_back(std::move(note));
  }
  for (std::string& note : NotesOfJoin(joined))
    joined.notes.push_back(std::move(note));
  return joined;
}

}  // namespace prism::kineto
