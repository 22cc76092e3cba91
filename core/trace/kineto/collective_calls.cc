#include "core/trace/kineto/collective_calls.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <utility>

namespace prism::kineto {
namespace {

// Part of the calls that must overlap for an order to be believed.
constexpr double kBelieved = 0.9;

using Calls = std::vector<const Activity*>;  // by start
// The calls of one kind and group by trace; only traces that have any.
using CallsByTrace = std::map<size_t, Calls>;
using Key = std::pair<std::string, std::string>;  // kind, group

struct Interval {
  int64_t start_ns, end_ns;
};

const Collective& CollectiveOf(const KernelTrace& trace, const Activity& call) {
  return trace.collectives[call.collective];
}

std::string GroupOf(const KernelTrace& trace, const Activity& call) {
  const std::string& group = CollectiveOf(trace, call).group;
  if (!group.empty()) return group;
  return absl::StrCat("stream ", trace.streams[call.stream].number);
}

std::map<Key, CallsByTrace> GroupCalls(const std::vector<KernelTrace>& traces) {
  std::map<Key, CallsByTrace> groups;
  for (size_t t = 0; t < traces.size(); ++t) {
    for (const Activity& activity : traces[t].activities) {
      if (activity.collective < 0) continue;
      const Key key{CollectiveOf(traces[t], activity).kind,
                    GroupOf(traces[t], activity)};
      groups[key][t].push_back(&activity);
    }
  }
  return groups;
}

void CountCall(const KernelTrace& trace, const Activity& call,
               CollectiveUse& use) {
  const Collective& collective = CollectiveOf(trace, call);
  ++use.calls;
  use.total_ns += call.end_ns - call.start_ns;
  use.group_size = std::max(use.group_size, collective.group_size);
  if (collective.bytes < 0) {
    ++use.unknown_bytes;
  } else {
    use.bytes = std::max<int64_t>(0, use.bytes) + collective.bytes;
  }
}

// Whether calls with these intervals can be one.
bool Overlap(const std::vector<Interval>& calls) {
  int64_t start = INT64_MIN, end = INT64_MAX;
  for (const Interval& call : calls) {
    start = std::max(start, call.start_ns);
    end = std::min(end, call.end_ns);
  }
  return start <= end;
}

void CountMatch(const std::vector<Interval>& calls, CollectiveUse& use) {
  int64_t latest = INT64_MIN;
  for (const Interval& call : calls) latest = std::max(latest, call.start_ns);
  for (const Interval& call : calls) {
    ++use.matched;
    use.waiting_ns += std::min(latest, call.end_ns) - call.start_ns;
    use.transfer_ns += std::max<int64_t>(0, call.end_ns - latest);
  }
}

int64_t Median(std::vector<int64_t> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Matches the calls of one kind and group.
class Matcher {
 public:
  Matcher(const CallsByTrace& calls, std::vector<int64_t>& ahead)
      : ahead_(ahead) {
    for (const auto& [trace, list] : calls) {
      traces_.push_back(trace);
      calls_.push_back(&list);
    }
  }

  void Match(CollectiveUse& use) {
    if (calls_.size() < 2) return;
    if (!MatchByOrder(use)) MatchByTime(use);
  }

 private:
  Interval At(size_t member, size_t call, int64_t shift) const {
    const Activity& activity = *(*calls_[member])[call];
    return {activity.start_ns - shift, activity.end_ns - shift};
  }

  // How far the clock of `member` is ahead of the first's.
  int64_t Ahead(size_t member) const {
    std::vector<int64_t> differences;
    for (size_t i = 0; i < calls_[0]->size(); ++i)
      differences.push_back(At(member, i, 0).end_ns - At(0, i, 0).end_ns);
    return Median(std::move(differences));
  }

  bool MatchByOrder(CollectiveUse& use) {
    const size_t count = calls_[0]->size();
    for (const Calls* calls : calls_)
      if (calls->size() != count) return false;
    std::vector<int64_t> shifts(calls_.size(), 0);
    if (MatchShifted(shifts, use)) return true;
    for (size_t m = 0; m < calls_.size(); ++m) shifts[m] = Ahead(m);
    if (!MatchShifted(shifts, use)) return false;
    for (size_t m = 1; m < calls_.size(); ++m)
      if (traces_[0] == 0) ahead_[traces_[m]] = shifts[m];
    return true;
  }

  bool MatchShifted(const std::vector<int64_t>& shifts, CollectiveUse& use) {
    const size_t count = calls_[0]->size();
    CollectiveUse matched = use;
    size_t overlapping = 0;
    for (size_t i = 0; i < count; ++i) {
      std::vector<Interval> calls;
      for (size_t m = 0; m < calls_.size(); ++m)
        calls.push_back(At(m, i, shifts[m]));
      if (!Overlap(calls)) continue;
      ++overlapping;
      CountMatch(calls, matched);
    }
    if (static_cast<double>(overlapping) <
        kBelieved * static_cast<double>(count))
      return false;
    use = matched;
    return true;
  }

  void MatchByTime(CollectiveUse& use) {
    std::vector<size_t> next(calls_.size(), 0);
    while (true) {
      std::vector<Interval> heads;
      for (size_t m = 0; m < calls_.size(); ++m) {
        if (next[m] == calls_[m]->size()) return;
        heads.push_back(At(m, next[m], 0));
      }
      if (Overlap(heads)) {
        CountMatch(heads, use);
        for (size_t& n : next) ++n;
      } else {
        ++next[FirstToEnd(heads)];
      }
    }
  }

  static size_t FirstToEnd(const std::vector<Interval>& heads) {
    return static_cast<size_t>(
        std::min_element(heads.begin(), heads.end(),
                         [](const Interval& a, const Interval& b) {
                           return a.end_ns < b.end_ns;
                         }) -
        heads.begin());
  }

  std::vector<size_t> traces_;
  std::vector<const Calls*> calls_;
  std::vector<int64_t>& ahead_;
};

}  // namespace

CollectiveCalls MatchCollectives(const std::vector<KernelTrace>& traces) {
  CollectiveCalls result;
  result.clock_ahead_ns.resize(traces.size(), 0);
  for (const auto& [key, calls] : GroupCalls(traces)) {
    CollectiveUse use{.kind = key.first, .group = key.second};
    use.ranks = static_cast<int64_t>(calls.size());
    for (const auto& [trace, list] : calls)
      for (const Activity* call : list) CountCall(traces[trace], *call, use);
    Matcher(calls, result.clock_ahead_ns).Match(use);
    result.uses.push_back(use);
  }
  std::stable_sort(result.uses.begin(), result.uses.end(),
                   [](const CollectiveUse& a, const CollectiveUse& b) {
                     return a.total_ns > b.total_ns;
                   });
  return result;
}

}  // namespace prism::kineto
