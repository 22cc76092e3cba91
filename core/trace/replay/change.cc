#include "core/trace/replay/change.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/stats/sample_quantiles.h"
#include "core/trace/replay/sequences.h"
#include "core/trace/replay/stage_balance.h"

namespace prism::trace {
namespace {

absl::Status DoesNotFit(const Change& change, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", change.text, "\": ", std::string(why)));
}

// Seconds that each stage computes for in a step, micro-batch by micro-batch:
// the median over its workers, of which some may be slow.
std::vector<double> StageSeconds(const Sizes& sizes, const Typical& typical) {
  std::vector<std::vector<double>> workers(static_cast<size_t>(sizes.pipeline));
  for (const auto& [worker, means] : typical.workers) {
    const auto stage = static_cast<size_t>(worker.second);
    if (stage >= workers.size()) continue;
    const auto mean = [&means](OperationKind kind) {
      return means[static_cast<size_t>(kind)].mean();
    };
    workers[stage].push_back(mean(OperationKind::kForwardCompute) +
                             mean(OperationKind::kBackwardCompute));
  }
  std::vector<double> seconds;
  for (std::vector<double>& stage : workers) {
    std::sort(stage.begin(), stage.end());
    seconds.push_back(stage.empty() ? 0 : stats::SortedQuantile(stage, 0.5));
  }
  return seconds;
}

}  // namespace

absl::StatusOr<Changes> Changes::Prepare(std::vector<Change> changes,
                                         const Sizes& sizes,
                                         const Typical& typical) {
  Changes prepared(std::move(changes), sizes, typical);
  for (const Change& change : prepared.changes_) {
    absl::Status status = prepared.Check(change);
    if (status.ok() && change.type == Change::Type::kRebalanceStages) {
      status = prepared.PrepareRebalance(change);
    }
    if (!status.ok()) return status;
  }
  return prepared;
}

absl::Status Changes::Check(const Change& change) const {
  const Source& source = change.source;
  if (source.stage && *source.stage >= sizes_.pipeline) {
    return DoesNotFit(change, absl::StrCat("the job has the stages 0 to ",
                                           sizes_.pipeline - 1));
  }
  if (source.replica && *source.replica >= sizes_.data) {
    return DoesNotFit(change, absl::StrCat("the job has the data ranks 0 to ",
                                           sizes_.data - 1));
  }
  const bool of_rank = change.type == Change::Type::kReplaceRank;
  if ((source.rank && !WorkerOfRank(*source.rank)) ||
      (of_rank && !WorkerOfRank(change.rank))) {
    return DoesNotFit(change, "no worker of the job has that rank");
  }
  return absl::OkStatus();
}

std::optional<WorkerKey> Changes::WorkerOfRank(int32_t rank) const {
  // The ranks of a worker follow each other; the first names it.
  std::optional<WorkerKey> of_rank;
  int32_t nearest = rank - sizes_.tensor * sizes_.context;
  for (const auto& [worker, first] : typical_.ranks) {
    if (first == kNone || first > rank || first <= nearest) continue;
    nearest = first;
    of_rank = worker;
  }
  return of_rank;
}

absl::Status Changes::PrepareRebalance(const Change& change) {
  const std::vector<double> now = StageSeconds(sizes_, typical_);
  const double total = std::accumulate(now.begin(), now.end(), 0.0);
  for (const double seconds : now) {
    if (seconds <= 0) return DoesNotFit(change, "a stage computes nothing");
  }
  std::vector<double> then(now.size(), total / static_cast<double>(now.size()));
  if (!change.layers.empty()) {
    if (change.layers.size() != now.size()) {
      return DoesNotFit(change,
                        absl::StrCat("the job has ", now.size(), " stages"));
    }
    const StageBalance balance = BalanceLayers(now, change.layers);
    then = balance.seconds;
    suggestions_.push_back(
        absl::StrCat("Layers by stage: ", absl::StrJoin(balance.layers, ", "),
                     " instead of ", absl::StrJoin(change.layers, ", "), "."));
  }
  stage_factors_.resize(now.size());
  for (size_t i = 0; i < now.size(); ++i) {
    stage_factors_[i] = then[i] / now[i];
    suggestions_.push_back(absl::StrFormat(
        "Stage %d computes for %.4g ms a micro-batch; balanced %.4g ms "
        "(%+.1f%%).",
        i, now[i] * 1e3, then[i] * 1e3, (stage_factors_[i] - 1) * 100));
  }
  return absl::OkStatus();
}

std::vector<double> Changes::Apply(const RecordedStep& step) const {
  std::vector<double> work = step.work();
  for (const Change& change : changes_) ApplyOne(change, step, work);
  return work;
}

bool Changes::IsIn(const Source& source, std::optional<WorkerKey> worker,
                   const Operation& operation) {
  if (worker) return worker == WorkerKey(operation.replica, operation.stage);
  return source.kinds[static_cast<size_t>(operation.kind)] &&
         source.stage.value_or(operation.stage) == operation.stage &&
         source.replica.value_or(operation.replica) == operation.replica;
}

void Changes::ApplyOne(const Change& change, const RecordedStep& step,
                       std::vector<double>& work) const {
  const auto& operations = step.step().operations;
  const std::optional<WorkerKey> worker =
      change.source.rank ? WorkerOfRank(*change.source.rank) : std::nullopt;
  switch (change.type) {
    case Change::Type::kScale:
    case Change::Type::kFreeze:
      for (size_t i = 0; i < operations.size(); ++i) {
        if (!IsIn(change.source, worker, operations[i])) continue;
        work[i] =
            change.type == Change::Type::kScale
                ? work[i] * change.factor
                : typical_.seconds[static_cast<size_t>(operations[i].kind)];
      }
      return;
    case Change::Type::kReplaceRank:
      return ReplaceRank(change.rank, step.step(), work);
    case Change::Type::kRebalanceStages:
      for (size_t i = 0; i < operations.size(); ++i) {
        if (!IsCompute(operations[i].kind)) continue;
        work[i] *= stage_factors_[static_cast<size_t>(operations[i].stage)];
      }
      return;
    case Change::Type::kSortSequences:
      work = SortSequences(step, work, sizes_, typical_);
      return;
  }
}

void Changes::ReplaceRank(int32_t rank, const Step& step,
                          std::vector<double>& work) const {
  const std::optional<WorkerKey> worker = WorkerOfRank(rank);
  std::array<WorkerMean, kOperationKinds> others{};
  for (const auto& [key, means] : typical_.workers) {
    if (key == worker || key.second != worker->second) continue;
    for (size_t k = 0; k < others.size(); ++k) {
      others[k].sum += means[k].sum;
      others[k].count += means[k].count;
    }
  }
  for (size_t i = 0; i < step.operations.size(); ++i) {
    const Operation& o = step.operations[i];
    if (WorkerKey(o.replica, o.stage) != *worker) continue;
    const auto kind = static_cast<size_t>(o.kind);
    work[i] =
        others[kind].count > 0 ? others[kind].mean() : typical_.seconds[kind];
  }
}

}  // namespace prism::trace
