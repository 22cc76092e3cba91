// Timelines: when each operation of a few steps ran, and on which ranks.
//
// Three steps of one graph: the nominal one, with every draw at its mean; the
// typical one, the simulated step that lies nearest to the median of a Monte
// Carlo run; and the one that lies nearest to its p99. What is recorded is the
// simulation itself: a sample depends on the graph, the key and its number
// alone, so it can be simulated again, alone and watched.
//
// All times are seconds from the beginning of the step.
#ifndef PRISM_CORE_STEP_TIMELINE_TIMELINE_H_
#define PRISM_CORE_STEP_TIMELINE_TIMELINE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/step/compiled_graph.h"
#include "core/step/step_graph.h"
#include "core/step/step_time.h"

namespace prism::step {

// Operations and tasks that are recorded at most, of all steps together.
inline constexpr int64_t kMostTimelineEvents = 120'000;

// One task of an operation.
struct TimelineTask {
  int kind = 0;    // index into StepGraph::kinds
  int stream = 0;  // of its rank
  // When its rank could have run it alone. A member of a group waits from here
  // to `begin_seconds` for the others.
  double ready_seconds = 0;
  double begin_seconds = 0;
  double end_seconds = 0;
};

// One operation of a rank, or its closing.
struct TimelineOperation {
  std::optional<Operation> operation;  // nothing: the closing
  // Unique among the operations of a rank; an operation of one id is part of
  // the same pass on all ranks. 0 for the closing.
  uint32_t id = 0;
  // When the rank was done with what it ran before. From here to
  // `begin_seconds` it waits.
  double ready_seconds = 0;
  double begin_seconds = 0;
  double end_seconds = 0;

  // What it waits for: sent by the operation `id` of the same replica and lane.
  struct Input {
    uint32_t id = 0;
    double sent_seconds = 0;
    double arrival_seconds = 0;
  };
  std::optional<Input> input;

  std::vector<TimelineTask> tasks;  // where they are recorded
};

struct TimelineRank {
  int64_t rank = 0;
  int replica = 0;
  int stage = 0;
  int lane = 0;
  bool has_tasks = false;
  std::vector<TimelineOperation> operations;  // in the order they ran
};

enum class StepKind { kNominal, kTypical, kP99 };

// Of a graph whose steps follow each other without a flush it is the one that
// is measured: what began before it begins with it.
struct TimelineStep {
  StepKind kind = StepKind::kNominal;
  double seconds = 0;
  int64_t sample = 0;     // its number in the run; 0 for the nominal one
  int64_t last_rank = 0;  // the one that ends the step
  std::vector<TimelineRank> ranks;  // by number
  // What was asked for and is above the limit.
  int64_t ranks_left_out = 0;
  int64_t ranks_without_tasks = 0;
  int64_t operations_left_out = 0;  // of the ranks recorded, their last
};

struct Timeline {
  std::vector<TimelineStep> steps;  // nominal, typical, p99
  // Of the run the steps are taken from. Below 100 samples there is no p99.
  StepTime time;
};

struct TimelineOptions {
  // Ranks to record beside the default, one lane of every stage of the replica
  // that ends last: the lane of the rank that does. Each exists.
  std::vector<int64_t> ranks = {};
  bool tasks = false;
  // Steps to simulate, at least 1. Unset: UsualSamples.
  std::optional<int64_t> samples;
  uint64_t random_key = 0;
  // Largest number of operations and tasks, at least one for each step.
  int64_t most_events = kMostTimelineEvents;
};

// 1,000 steps, or as many as make 2e9 draws if that is less; but 100 where
// those make at most 5e9, and never fewer than 3.
int64_t UsualSamples(const CompiledGraph& compiled);

// Simulates and records. Where the budget ends while steps are simulated, the
// others are chosen from those there are and the time's quality is kReduced.
//
// Errors: those of Simulate by Monte Carlo.
absl::StatusOr<Timeline> RecordTimeline(const StepGraph& graph,
                                        const TimelineOptions& options,
                                        const base::Budget& budget,
                                        base::Executor& executor);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_TIMELINE_TIMELINE_H_
