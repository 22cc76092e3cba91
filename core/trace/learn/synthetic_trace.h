// Observed steps of made-up jobs whose truth is known; for tests.
#ifndef PRISM_CORE_TRACE_LEARN_SYNTHETIC_TRACE_H_
#define PRISM_CORE_TRACE_LEARN_SYNTHETIC_TRACE_H_

#include <cstdint>

#include "core/trace/learn/observations.h"
#include "core/trace/trace.h"

namespace prism::trace {

// 1F1B with the collectives that Megatron-LM's traces have. Logarithms of all
// factors are normal.
struct SyntheticJob {
  int replicas = 32;
  int stages = 2;
  int microbatches = 6;
  int steps = 30;
  double load_sd = 0;      // of a micro-batch, on all stages, both ways
  double step_sd = 0;      // of a step, in all replicas
  double noise_sd = 0.02;  // of each compute
  // A rank this many times as slow; 1: none.
  double slow_factor = 1;
  int slow_replica = 0;
  int slow_stage = 0;
};

// The steps as a trace, with waiting in the durations of what waits.
Trace MakeTrace(const SyntheticJob& job, uint64_t seed);

// What a replay of such a trace observes.
Observations Observe(const Trace& trace);

// Of `observed`, the steps whose numbers are in `which`.
Observations Select(const Observations& observed,
                    const std::vector<size_t>& which);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_LEARN_SYNTHETIC_TRACE_H_
