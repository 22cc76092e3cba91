// Attribution: what makes recorded steps longer than they need to be.
//
// The ideal step takes what is typical (typical.h) for every operation; the
// slowdown is the mean recorded step, run again, over the mean ideal one. A
// part of the job, as all operations of a stage, is held to account twice:
//
//   slowdown  only the part as recorded, all else typical, over the ideal:
//             what it does alone
//   removed   only the part typical, all else as recorded: the share of the
//             excess over the ideal that goes when it alone is fixed
//
// They differ: of two stragglers that run beside each other, each alone makes
// the step long and fixing one alone changes nothing. Source: as
// dependencies.h, equations 1 to 5. Plain values; functions are pure.
#ifndef PRISM_CORE_TRACE_REPLAY_ATTRIBUTION_H_
#define PRISM_CORE_TRACE_REPLAY_ATTRIBUTION_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/trace/replay/recorded_step.h"
#include "core/trace/replay/typical.h"

namespace prism::trace {

// How a job is taken apart, each operation in one part at most.
struct Partition {
  std::vector<std::string> names;
  // The part of an operation, an index into names; kNone: none.
  std::function<int32_t(const Operation&)> part_of;
};

// By kind of operation, both ends of a transfer together: "forward-pp-comm".
Partition ByOperation();
Partition ByStage(const Sizes& sizes);
// By replica.
Partition ByRank(const Sizes& sizes);
// By worker, named by its first rank.
Partition ByWorker(const Typical& typical);
// The workers of `members`, as one part.
Partition OnlyWorkers(std::string name, std::vector<WorkerKey> members);

// The name of a worker: its first rank, else where it is.
std::string WorkerName(const Typical& typical, WorkerKey worker);

// One part's account.
struct Account {
  std::string name;
  double slowdown = 1;
  double removed = 0;  // 0 without an excess
  // Mean and, in the order of the steps, each step, seconds.
  double only_seconds = 0;
  double without_seconds = 0;
  std::vector<double> without;
};

// Means over steps, seconds.
struct Excess {
  double simulated = 0;
  double ideal = 0;

  double slowdown() const { return ideal > 0 ? simulated / ideal : 1; }
  double seconds() const { return simulated - ideal; }
  // `part_seconds` over the excess; 0 where there is none.
  double ShareOf(double part_seconds) const;
};

Excess MeasureExcess(std::span<const RecordedStep> steps,
                     const KindSeconds& typical);

// By part, in its order; parts without operations are left out.
std::vector<Account> Attribute(std::span<const RecordedStep> steps,
                               const KindSeconds& typical,
                               const Partition& partition);

// The three in a hundred workers, rounded up, whose replicas and stages are
// worst: by the lower of the two slowdowns.
std::vector<WorkerKey> WorstWorkers(const std::vector<Account>& by_rank,
                                    const std::vector<Account>& by_stage,
                                    const Typical& typical);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_ATTRIBUTION_H_
