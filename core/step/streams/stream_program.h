// Programs whose communication runs beside computation.
//
// An operation runs its segments one after another, each `count` times. What
// one run of a segment is made of is given as tasks; this unrolls the runs into
// a program in which the tasks stand in the order in which a rank issues them
// and wait for what docs/step-profile.md ("Streams") says:
//
//   gather    before the run's computation; issued `prefetch` gathering runs
//             ahead of it, so that it may run beside the computation of those
//   compute   after the run before and the run's gather
//   collective  after the run's computation. The next run waits for it or,
//             where it overlaps, computes beside it and waits at its end
//   scatter   after the run; only the closing waits for it
//   reduce    after the run's scatter; only the closing waits for it
//
// Runs that are alike are one segment of the program, repeated.
#ifndef PRISM_CORE_STEP_STREAMS_STREAM_PROGRAM_H_
#define PRISM_CORE_STEP_STREAMS_STREAM_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/step/step_graph.h"

namespace prism::step {

// Streams of a rank.
enum Stream {
  kComputeStream,
  kDataStream,    // gathers and scatters, in the order in which they are issued
  kCopiesStream,  // reductions between the copies of a shard
  kTensorStream,  // collectives that overlap
};

// What one run of a segment is made of: distribution, factor class, group and
// kind of each task, and the stream of the collective. The rest is set here.
struct SegmentTasks {
  std::optional<Task> gather;
  Task compute;
  std::optional<Task> collective;
  // The next run computes beside the collective.
  bool overlaps = false;
  std::optional<Task> scatter;
  std::optional<Task> reduce;  // only with `scatter`
  int64_t count = 1;           // at least 1
};

// The program of `segments`, with gathers issued `prefetch` (at least 0)
// gathering runs ahead. Takes time linear in the number of runs.
Program UnrollRuns(const std::vector<SegmentTasks>& segments, int64_t prefetch);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_STREAMS_STREAM_PROGRAM_H_
