#include "core/trace/replay/attribution.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace prism::trace {
namespace {

constexpr std::string_view kForwardTransfer = "forward-pp-comm";
constexpr std::string_view kBackwardTransfer = "backward-pp-comm";

std::string PartName(OperationKind kind) {
  if (!IsPointToPoint(kind)) return std::string(KindName(kind));
  const bool forward = kind == OperationKind::kForwardSend ||
                       kind == OperationKind::kForwardReceive;
  return std::string(forward ? kForwardTransfer : kBackwardTransfer);
}

std::vector<std::string> Numbers(int32_t count) {
  std::vector<std::string> names;
  for (int32_t i = 0; i < count; ++i) names.push_back(absl::StrCat(i));
  return names;
}

std::vector<double> TypicalWork(const RecordedStep& step,
                                const KindSeconds& typical) {
  std::vector<double> work;
  for (const Operation& operation : step.step().operations) {
    work.push_back(typical[static_cast<size_t>(operation.kind)]);
  }
  return work;
}

// Runs one step with each part alone as recorded and alone typical.
class StepAccounts {
 public:
  StepAccounts(const RecordedStep& step, const KindSeconds& typical,
               const Partition& partition)
      : step_(step),
        typical_(TypicalWork(step, typical)),
        members_(partition.names.size()),
        ends_(typical_.size()) {
    const auto& operations = step.step().operations;
    for (size_t i = 0; i < operations.size(); ++i) {
      const int32_t part = partition.part_of(operations[i]);
      if (part != kNone) members_[static_cast<size_t>(part)].push_back(i);
    }
  }

  bool Has(size_t part) const { return !members_[part].empty(); }
  double Only(size_t part) {
    return RunMixed(typical_, step_.work(), members_[part]);
  }
  double Without(size_t part) {
    return RunMixed(step_.work(), typical_, members_[part]);
  }

 private:
  // `base`, with the `members` of `other`.
  double RunMixed(const std::vector<double>& base,
                  const std::vector<double>& other,
                  const std::vector<size_t>& members) {
    mixed_ = base;
    for (const size_t i : members) mixed_[i] = other[i];
    return step_.program().Run(mixed_, ends_);
  }

  const RecordedStep& step_;
  std::vector<double> typical_;
  std::vector<std::vector<size_t>> members_;
  std::vector<double> mixed_, ends_;
};

}  // namespace

Partition ByOperation() {
  Partition partition;
  std::array<int32_t, kOperationKinds> part_of_kind{};
  for (int i = 0; i < kOperationKinds; ++i) {
    const std::string name = PartName(static_cast<OperationKind>(i));
    auto& names = partition.names;
    const auto found = std::find(names.begin(), names.end(), name);
    part_of_kind[static_cast<size_t>(i)] =
        static_cast<int32_t>(found - names.begin());
    if (found == names.end()) names.push_back(name);
  }
  partition.part_of = [part_of_kind](const Operation& operation) {
    return part_of_kind[static_cast<size_t>(operation.kind)];
  };
  return partition;
}

Partition ByStage(const Sizes& sizes) {
  return {Numbers(sizes.pipeline),
          [](const Operation& operation) { return operation.stage; }};
}

Partition ByRank(const Sizes& sizes) {
  return {Numbers(sizes.data),
          [](const Operation& operation) { return operation.replica; }};
}

std::string WorkerName(const Typical& typical, WorkerKey worker) {
  const auto rank = typical.ranks.find(worker);
  if (rank != typical.ranks.end() && rank->second != kNone) {
    return absl::StrCat(rank->second);
  }
  return absl::StrCat(worker.first, "/", worker.second);
}

Partition ByWorker(const Typical& typical) {
  Partition partition;
  std::map<WorkerKey, int32_t> parts;
  for (const auto& [worker, means] : typical.workers) {
    parts[worker] = static_cast<int32_t>(partition.names.size());
    partition.names.push_back(WorkerName(typical, worker));
  }
  partition.part_of = [parts = std::move(parts)](const Operation& operation) {
    const auto found = parts.find({operation.replica, operation.stage});
    return found == parts.end() ? kNone : found->second;
  };
  return partition;
}

Partition OnlyWorkers(std::string name, std::vector<WorkerKey> members) {
  return {{std::move(name)},
          [members = std::move(members)](const Operation& operation) {
            const WorkerKey key{operation.replica, operation.stage};
            const bool is_member =
                std::find(members.begin(), members.end(), key) != members.end();
            return is_member ? 0 : kNone;
          }};
}

double Excess::ShareOf(double part_seconds) const {
  constexpr double kLeast = 1e-9;  // of the ideal: less is rounding
  return seconds() > kLeast * ideal ? part_seconds / seconds() : 0;
}

Excess MeasureExcess(std::span<const RecordedStep> steps,
                     const KindSeconds& typical) {
  Excess excess;
  std::vector<double> ends;
  for (const RecordedStep& step : steps) {
    ends.resize(step.work().size());
    excess.simulated += step.program().Run(step.work(), ends);
    excess.ideal += step.program().Run(TypicalWork(step, typical), ends);
  }
  const double count = std::max<double>(1, static_cast<double>(steps.size()));
  return {excess.simulated / count, excess.ideal / count};
}

std::vector<Account> Attribute(std::span<const RecordedStep> steps,
                               const KindSeconds& typical,
                               const Partition& partition) {
  const Excess excess = MeasureExcess(steps, typical);
  const double count = std::max<double>(1, static_cast<double>(steps.size()));
  std::vector<Account> accounts(partition.names.size());
  std::vector<bool> seen(accounts.size(), false);
  for (const RecordedStep& step : steps) {
    StepAccounts runs(step, typical, partition);
    for (size_t i = 0; i < accounts.size(); ++i) {
      seen[i] = seen[i] || runs.Has(i);
      accounts[i].only_seconds += runs.Only(i) / count;
      accounts[i].without.push_back(runs.Without(i));
      accounts[i].without_seconds += accounts[i].without.back() / count;
    }
  }
  std::vector<Account> kept;
  for (size_t i = 0; i < accounts.size(); ++i) {
    if (!seen[i]) continue;
    Account& account = accounts[i];
    account.name = partition.names[i];
    account.slowdown = account.only_seconds / excess.ideal;
    account.removed =
        excess.ShareOf(excess.simulated - account.without_seconds);
    kept.push_back(std::move(account));
  }
  return kept;
}

std::vector<WorkerKey> WorstWorkers(const std::vector<Account>& by_rank,
                                    const std::vector<Account>& by_stage,
                                    const Typical& typical) {
  constexpr size_t kInHundred = 3;
  std::map<std::string, double> of_rank, of_stage;
  for (const Account& account : by_rank) {
    of_rank[account.name] = account.slowdown;
  }
  for (const Account& account : by_stage) {
    of_stage[account.name] = account.slowdown;
  }
  std::vector<std::pair<double, WorkerKey>> scored;
  for (const auto& [worker, means] : typical.workers) {
    scored.emplace_back(-std::min(of_rank[absl::StrCat(worker.first)],
                                  of_stage[absl::StrCat(worker.second)]),
                        worker);
  }
  std::sort(scored.begin(), scored.end());
  scored.resize((scored.size() * kInHundred + 99) / 100);
  std::vector<WorkerKey> worst;
  for (const auto& [score, worker] : scored) worst.push_back(worker);
  return worst;
}

}  // namespace prism::trace
