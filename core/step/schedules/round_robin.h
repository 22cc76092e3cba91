// Round-robin dispatch of a model's stages over stateless workers.
//
// Workers hold no part of the model: parameters live on the host, and a stage
// runs on whichever worker is next, with all micro-batches of the step, before
// the worker takes another. The order of RoundPipe (arXiv 2604.27085;
// github.com/ITcarrot/RoundPipe, with as many stages backward as forward and
// the optimizer beside the next step).
#ifndef PRISM_CORE_STEP_SCHEDULES_ROUND_ROBIN_H_
#define PRISM_CORE_STEP_SCHEDULES_ROUND_ROBIN_H_

#include "core/step/schedules/asynchronous.h"

namespace prism::step {

// Where execution k of a step is: 0 to V - 1 are the forwards of the V model
// stages, V to 2 V - 1 their backwards from the last.
struct Execution {
  bool forward = true;
  int model_stage = 0;
};
Execution ExecutionAt(int index, int model_stages);

// p workers, V = p * chunks model stages. The run's virtual stages are the 2 V
// executions of a step, all of Phase::kForward: execution k runs on worker
// k mod p, and micro-batch i of it waits for micro-batch i of execution k - 1.
// After its last execution of a step a worker updates, and it goes on with the
// next step at once. Before each execution it fetches.
//
// With constant times and no hops: where all executions take t a micro-batch,
// a step takes 2 (V / p) m t + C if m >= p, when no worker waits, and
// (2 V - p + m) t + C if m <= p. With fetches of U beside executions the first
// is 2 (V / p) max(m t, U) + C.
// Memory of a worker: the parameters of one model stage (of two, where the next
// one's come while it computes) and the activations of one micro-batch.
//
// Requires: sizes at least 1, steps at least 2.
ContinuousRun RoundRobinRun(int workers, int chunks, int microbatches,
                            int steps);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULES_ROUND_ROBIN_H_
