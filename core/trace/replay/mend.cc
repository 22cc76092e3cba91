#include "core/trace/replay/mend.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "core/trace/replay/implausible.h"
#include "core/trace/step_order.h"

namespace prism::trace {
namespace {

using Kind = OperationKind;
using Counts = std::array<int64_t, kOperationKinds>;
using Worker = std::pair<int32_t, int32_t>;  // replica, stage

// The operations of one worker after the other.
std::map<Worker, std::span<const Operation>> Workers(const Step& step) {
  std::map<Worker, std::span<const Operation>> workers;
  const std::span<const Operation> all(step.operations);
  for (size_t first = 0; first < all.size();) {
    size_t last = first;
    const Worker worker(all[first].replica, all[first].stage);
    while (last < all.size() &&
           Worker(all[last].replica, all[last].stage) == worker) {
      ++last;
    }
    workers[worker] = all.subspan(first, last - first);
    first = last;
  }
  return workers;
}

Counts Count(std::span<const Operation> operations) {
  Counts counts{};
  for (const Operation& operation : operations) {
    ++counts[static_cast<size_t>(operation.kind)];
  }
  return counts;
}

int64_t Of(const Counts& counts, Kind kind) {
  return counts[static_cast<size_t>(kind)];
}

// Operations that follow each other: computes, each kind of point-to-point
// operation, and all others.
int Stream(Kind kind) {
  constexpr int kOthers = -1;
  if (IsCompute(kind)) return 0;
  return IsPointToPoint(kind) ? static_cast<int>(kind) : kOthers;
}

// Puts what `present` lacks of `full` in its place.
class WorkerMender {
 public:
  WorkerMender(std::span<const Operation> full, Worker worker,
               std::span<const Operation> present, double first_start)
      : worker_(worker), full_(full) {
    for (const Operation& operation : present) {
      present_[Key(operation)] = &operation;
      rank_ = std::max(rank_, operation.rank);
      auto& [sum, count] = sums_[operation.kind];
      sum += operation.duration_seconds;
      ++count;
    }
    for (const Operation& operation : full) {
      free_.try_emplace(Stream(operation.kind), first_start);
    }
  }

  std::vector<Operation> Missing() {
    std::vector<Operation> missing;
    for (const Operation& model : full_) {
      double& free = free_[Stream(model.kind)];
      if (const auto found = present_.find(Key(model));
          found != present_.end()) {
        free = found->second->end_seconds();
        continue;
      }
      missing.push_back(MadeUp(model, free));
      free = missing.back().end_seconds();
    }
    return missing;
  }

 private:
  using OperationKey = std::pair<Kind, int32_t>;

  static OperationKey Key(const Operation& operation) {
    return {operation.kind, operation.sequence};
  }

  Operation MadeUp(const Operation& model, double start) const {
    Operation operation = model;
    std::tie(operation.replica, operation.stage) = worker_;
    operation.rank = rank_;
    operation.start_seconds = start;
    if (const auto found = sums_.find(model.kind); found != sums_.end()) {
      operation.duration_seconds = found->second.first / found->second.second;
    }
    return operation;
  }

  Worker worker_;
  std::span<const Operation> full_;
  std::map<OperationKey, const Operation*> present_;
  std::map<Kind, std::pair<double, double>> sums_;
  std::map<int, double> free_;
  int32_t rank_ = kNone;
};

}  // namespace

void Mender::Learn(const Step& recorded) {
  Step step = recorded;
  TakeOutImplausible(step);
  for (const auto& [worker, operations] : Workers(step)) {
    const auto stage = static_cast<size_t>(worker.second);
    if (stage >= fullest_.size()) fullest_.resize(stage + 1);
    if (operations.size() <= fullest_[stage].size()) continue;
    fullest_[stage].assign(operations.begin(), operations.end());
    std::stable_sort(fullest_[stage].begin(), fullest_[stage].end(),
                     [](const Operation& a, const Operation& b) {
                       return a.start_seconds < b.start_seconds;
                     });
  }
}

bool Mender::IsWhole(const Step& step) const {
  const auto workers = Workers(step);
  if (workers.size() != static_cast<size_t>(sizes_.workers())) return false;
  const int64_t forwards =
      Of(Count(workers.begin()->second), Kind::kForwardCompute);
  for (const auto& [worker, operations] : workers) {
    const auto& model = fullest_[static_cast<size_t>(worker.second)];
    const Counts counts = Count(operations);
    const bool optimizer = Of(Count(model), Kind::kOptimizer) > 0;
    const auto first = workers.find({0, worker.second});
    if (first == workers.end() || counts != Count(first->second) ||
        Of(counts, Kind::kForwardCompute) != forwards || forwards == 0 ||
        Of(counts, Kind::kBackwardCompute) != forwards ||
        (optimizer && Of(counts, Kind::kOptimizer) == 0)) {
      return false;
    }
  }
  return true;
}

std::optional<MendedStep> Mender::Mend(const Step& recorded,
                                       DamageLog* damage) const {
  Step step = recorded;
  const int64_t implausible = TakeOutImplausible(step);
  if (implausible > 0 && damage != nullptr) {
    damage->Add(0, "step", "has operations at times that cannot be; left out",
                absl::StrCat(step.number), implausible);
  }
  if (IsWhole(step)) return MendedStep{std::move(step), {}};
  if (step.operations.empty()) return std::nullopt;
  const auto workers = Workers(step);
  double first_start = step.operations.front().start_seconds;
  for (const Operation& operation : step.operations) {
    first_start = std::min(first_start, operation.start_seconds);
  }
  std::vector<Operation> missing;
  int64_t expected = 0;
  for (int32_t replica = 0; replica < sizes_.data; ++replica) {
    for (size_t stage = 0; stage < fullest_.size(); ++stage) {
      const Worker worker(replica, static_cast<int32_t>(stage));
      const auto found = workers.find(worker);
      const auto more =
          WorkerMender(fullest_[stage], worker,
                       found == workers.end() ? std::span<const Operation>()
                                              : found->second,
                       first_start)
              .Missing();
      missing.insert(missing.end(), more.begin(), more.end());
      expected += static_cast<int64_t>(fullest_[stage].size());
    }
  }
  const bool lost = static_cast<double>(missing.size()) >
                    kMostMissing * static_cast<double>(expected);
  if (damage != nullptr) {
    damage->Add(
        0, "step",
        lost ? "lacks more than a tenth of its operations; left out"
        : missing.empty()
            ? "has more operations than its workers have elsewhere"
            : "lacks operations; typical ones put in their place",
        absl::StrCat(step.number),
        lost || missing.empty() ? 1 : static_cast<int64_t>(missing.size()));
  }
  if (lost) return std::nullopt;
  MendedStep mended{std::move(step), {}};
  std::set<std::tuple<int32_t, int32_t, Kind, int32_t>> made_up;
  for (const Operation& o : missing) {
    made_up.emplace(o.replica, o.stage, o.kind, o.sequence);
    mended.step.operations.push_back(o);
  }
  PutInOrder(mended.step);
  for (const Operation& o : mended.step.operations) {
    mended.made_up.push_back(
        made_up.contains({o.replica, o.stage, o.kind, o.sequence}));
  }
  return mended;
}

}  // namespace prism::trace
