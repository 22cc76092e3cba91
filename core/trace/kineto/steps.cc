#include "core/trace/kineto/steps.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <map>

namespace prism::kineto {
namespace {

constexpr absl::string_view kProfilerStep = "ProfilerStep#";
constexpr absl::string_view kOptimizerStep = "Optimizer.step";
// Part of a step by which the device may end later than the host's mark.
constexpr double kRunAhead = 0.02;
// Steps that begin later than this part of a step after the one before do not
// follow each other.
constexpr double kGap = 0.01;

// A step with what it launched.
struct Marked {
  StepWindow window;
  int64_t first_start_ns = INT64_MAX;  // on the device
  int64_t last_end_ns = INT64_MIN;

  bool launched() const { return first_start_ns != INT64_MAX; }
};

bool StartsWith(const std::string& text, absl::string_view start) {
  return absl::string_view(text).substr(0, start.size()) == start;
}

int64_t NumberOf(const std::string& name, int64_t otherwise) {
  int64_t number = 0;
  if (StartsWith(name, kProfilerStep) &&
      absl::SimpleAtoi(name.substr(kProfilerStep.size()), &number))
    return number;
  return otherwise;
}

std::vector<Marked> AnnotatedSteps(const KernelTrace& trace,
                                   absl::string_view start) {
  std::vector<Marked> steps;
  for (const Annotation& annotation : trace.annotations) {
    const std::string& name = trace.names[annotation.name];
    if (!StartsWith(name, start)) continue;
    // Of stretches that lie in each other the outer one is the step.
    if (!steps.empty() && annotation.start_ns < steps.back().window.end_ns)
      continue;
    const int64_t next = static_cast<int64_t>(steps.size()) + 1;
    steps.push_back({.window = {name, NumberOf(name, next), annotation.start_ns,
                                annotation.end_ns,
                                annotation.end_ns - annotation.start_ns}});
  }
  return steps;
}

// The optimizer that steps most often, the first of those that do; -1: none.
int32_t MainOptimizer(const KernelTrace& trace) {
  std::map<int32_t, int64_t> counts;
  for (const Annotation& annotation : trace.annotations)
    if (StartsWith(trace.names[annotation.name], kOptimizerStep))
      ++counts[annotation.name];
  int32_t most = -1;
  for (const auto& [name, count] : counts)
    if (most < 0 || count > counts[most]) most = name;
  return most;
}

std::vector<Marked> OptimizerSteps(const KernelTrace& trace) {
  const int32_t optimizer = MainOptimizer(trace);
  std::vector<Marked> steps;
  std::optional<int64_t> begin;
  for (const Annotation& annotation : trace.annotations) {
    if (annotation.name != optimizer) continue;
    if (begin && annotation.end_ns > *begin) {
      const int64_t number = static_cast<int64_t>(steps.size()) + 1;
      steps.push_back(
          {.window = {absl::StrCat("step ", number), number, *begin,
                      annotation.end_ns, annotation.end_ns - *begin}});
    }
    begin = annotation.end_ns;
  }
  return steps;
}

void FindLaunches(const KernelTrace& trace, std::vector<Marked>& steps) {
  for (const Activity& activity : trace.activities) {
    const auto next = std::upper_bound(
        steps.begin(), steps.end(), activity.launch_ns,
        [](int64_t at, const Marked& s) { return at < s.window.start_ns; });
    if (next == steps.begin()) continue;
    Marked& step = *std::prev(next);
    if (activity.launch_ns >= step.window.end_ns) continue;
    step.first_start_ns = std::min(step.first_start_ns, activity.start_ns);
    step.last_end_ns = std::max(step.last_end_ns, activity.end_ns);
  }
}

// Takes out the steps that launched nothing and gives their names.
std::vector<std::string> TakeEmpty(std::vector<Marked>& steps) {
  std::vector<std::string> names;
  for (const Marked& step : steps)
    if (!step.launched()) names.push_back(step.window.name);
  std::erase_if(steps, [](const Marked& step) { return !step.launched(); });
  return names;
}

double MeanDuration(const std::vector<Marked>& steps) {
  double sum = 0;
  for (const Marked& step : steps)
    sum += static_cast<double>(step.window.end_ns - step.window.start_ns);
  return sum / static_cast<double>(steps.size());
}

bool HostRunsAhead(const std::vector<Marked>& steps) {
  const double most = kRunAhead * MeanDuration(steps);
  return std::any_of(steps.begin(), steps.end(), [most](const Marked& step) {
    return static_cast<double>(step.last_end_ns - step.window.end_ns) > most;
  });
}

void PutOnDeviceClock(std::vector<Marked>& steps) {
  const double gap = kGap * MeanDuration(steps);
  for (size_t i = 0; i < steps.size(); ++i) {
    const Marked* next = i + 1 < steps.size() ? &steps[i + 1] : nullptr;
    StepWindow& window = steps[i].window;
    const bool follows =
        next != nullptr &&
        static_cast<double>(next->window.start_ns - window.end_ns) <= gap &&
        next->first_start_ns > steps[i].first_start_ns;
    window.start_ns = steps[i].first_start_ns;
    window.end_ns = follows ? next->first_start_ns : steps[i].last_end_ns;
  }
}

Steps WholeFile(const KernelTrace& trace) {
  Steps steps;
  steps.clock = StepClock::kDevice;
  if (trace.activities.empty()) return steps;
  StepWindow window{"the whole file", 1, trace.activities.front().start_ns};
  for (const Activity& activity : trace.activities)
    window.end_ns = std::max(window.end_ns, activity.end_ns);
  window.marked_ns = window.end_ns - window.start_ns;
  steps.windows.push_back(window);
  return steps;
}

}  // namespace

Steps FindSteps(const KernelTrace& trace, const StepOptions& options) {
  Steps steps;
  std::vector<Marked> marked;
  if (options.mark) {
    steps.mark = StepMark::kGiven;
    marked = AnnotatedSteps(trace, *options.mark);
  } else if (marked = AnnotatedSteps(trace, kProfilerStep); !marked.empty()) {
    steps.mark = StepMark::kProfilerStep;
  } else if (marked = OptimizerSteps(trace); !marked.empty()) {
    steps.mark = StepMark::kOptimizer;
  }
  FindLaunches(trace, marked);
  steps.empty = TakeEmpty(marked);
  if (marked.empty() && !options.mark) {
    Steps whole = WholeFile(trace);
    whole.empty = std::move(steps.empty);
    return whole;
  }
  if (marked.empty()) return steps;
  const StepClock found =
      HostRunsAhead(marked) ? StepClock::kDevice : StepClock::kHost;
  steps.clock = options.clock.value_or(found);
  if (steps.clock == StepClock::kDevice) PutOnDeviceClock(marked);
  for (const Marked& step : marked) steps.windows.push_back(step.window);
  return steps;
}

}  // namespace prism::kineto
