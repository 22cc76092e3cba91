#include "core/trace/replay/step_program.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <deque>
#include <limits>

namespace prism::trace {
namespace {

// Lists of neighbours in one array.
struct Lists {
  std::vector<int32_t> first, items;

  std::span<const int32_t> of(int32_t i) const {
    const auto at = static_cast<size_t>(i);
    return std::span(items).subspan(
        static_cast<size_t>(first[at]),
        static_cast<size_t>(first[at + 1] - first[at]));
  }
};

template <typename From, typename To>
Lists Gather(const Dependencies& dependencies, From from, To to) {
  Lists lists;
  lists.first.assign(dependencies.group.size() + 1, 0);
  for (const auto& edge : dependencies.edges) ++lists.first[from(edge) + 1];
  for (size_t i = 1; i < lists.first.size(); ++i) {
    lists.first[i] += lists.first[i - 1];
  }
  lists.items.resize(dependencies.edges.size());
  std::vector<int32_t> next = lists.first;
  for (const auto& edge : dependencies.edges) {
    lists.items[static_cast<size_t>(next[from(edge)]++)] = to(edge);
  }
  return lists;
}

}  // namespace

absl::StatusOr<StepProgram> StepProgram::Compile(
    const Dependencies& dependencies) {
  using Edge = std::pair<int32_t, int32_t>;
  const auto earlier = [](const Edge& e) { return e.first; };
  const auto later = [](const Edge& e) { return e.second; };
  const Lists after = Gather(dependencies, earlier, later);
  const Lists before = Gather(dependencies, later, earlier);

  const size_t operations = dependencies.group.size();
  StepProgram program;
  program.order_.reserve(operations);
  std::vector<int32_t> open(operations);
  std::deque<int32_t> ready;
  for (size_t i = 0; i < operations; ++i) {
    const auto index = static_cast<int32_t>(i);
    open[i] = static_cast<int32_t>(before.of(index).size());
    if (open[i] == 0) ready.push_back(index);
  }
  const auto finish = [&](int32_t i) {
    for (const int32_t next : after.of(i)) {
      if (--open[static_cast<size_t>(next)] == 0) ready.push_back(next);
    }
  };
  std::vector<size_t> begun(dependencies.groups.size(), 0);
  while (!ready.empty()) {
    const int32_t i = ready.front();
    ready.pop_front();
    const int32_t group = dependencies.group[static_cast<size_t>(i)];
    const auto first = static_cast<int32_t>(program.before_.size());
    const auto follows = before.of(i);
    program.before_.insert(program.before_.end(), follows.begin(),
                           follows.end());
    program.order_.push_back(
        {i, group, first, static_cast<int32_t>(program.before_.size())});
    if (group == kAlone) {
      finish(i);
      continue;
    }
    const auto& members = dependencies.groups[static_cast<size_t>(group)];
    if (++begun[static_cast<size_t>(group)] == members.size()) {
      for (const int32_t member : members) finish(member);
    }
  }
  if (program.order_.size() != operations) {
    return absl::FailedPreconditionError(absl::StrCat(
        operations - program.order_.size(), " operations wait for each other"));
  }
  program.group_first_.push_back(0);
  for (const auto& members : dependencies.groups) {
    program.members_.insert(program.members_.end(), members.begin(),
                            members.end());
    program.group_first_.push_back(
        static_cast<int32_t>(program.members_.size()));
  }
  return program;
}

double StepProgram::Run(std::span<const double> work, std::span<double> ends,
                        std::span<const double> delays) const {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  struct State {
    double latest = kNever;
    int32_t begun = 0;
  };
  static thread_local std::vector<State> groups;
  groups.assign(group_first_.size(), {});
  double last = 0;
  for (const Entry& entry : order_) {
    const auto i = static_cast<size_t>(entry.operation);
    double start = entry.first == entry.last ? 0 : kNever;
    for (int32_t k = entry.first; k < entry.last; ++k) {
      start = std::max(
          start, ends[static_cast<size_t>(before_[static_cast<size_t>(k)])]);
    }
    if (!delays.empty()) start += delays[i];
    if (entry.group == kAlone) {
      ends[i] = start + work[i];
      last = std::max(last, ends[i]);
      continue;
    }
    const auto g = static_cast<size_t>(entry.group);
    State& group = groups[g];
    group.latest = std::max(group.latest, start);
    if (++group.begun < group_first_[g + 1] - group_first_[g]) continue;
    for (int32_t k = group_first_[g]; k < group_first_[g + 1]; ++k) {
      const auto member = static_cast<size_t>(members_[static_cast<size_t>(k)]);
      ends[member] = group.latest + work[member];
      last = std::max(last, ends[member]);
    }
  }
  return last;
}

}  // namespace prism::trace
