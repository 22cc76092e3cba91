// How a model's layers lie on the virtual stages of a pipeline, and those on
// its stages.
//
// Virtual stage u of pipeline * virtual_stages lies on stage u mod pipeline;
// in V-shaped ones (FoldsPipeline()) u and 2 * pipeline - 1 - u lie on one
// stage, so that the first has both ends of the model. In DualPipe the virtual
// stages are two chains, each of them the whole model, the second from the last
// stage to the first: a stage holds the layers of two.
//
// Requires of every function: the job is valid.
#ifndef PRISM_CORE_WORKLOAD_STAGES_H_
#define PRISM_CORE_WORKLOAD_STAGES_H_

#include <cstdint>

#include "core/workload/job.h"

namespace prism::workload {

// Whether backwards are run in an input and a weight part.
bool SplitsBackward(Schedule schedule);

// Whether virtual stages u and 2 * pipeline - 1 - u lie on one stage: those of
// V-shaped schedules, of DualPipe, and of kZeroBubbleAuto with two chunks.
bool FoldsPipeline(const Parallelism& split);

// Chains of virtual stages, each a whole model: 2 in DualPipe, else 1.
int64_t Chains(Schedule schedule);

// Micro-batches that each virtual stage runs in a step.
int64_t MicrobatchesOfChain(const Job& job);

int64_t VirtualStages(const Parallelism& split);

// Virtual stages that the model is cut into: those of one chain.
int64_t ModelStages(const Parallelism& split);

// Stage that runs virtual stage `u`.
int64_t StageOf(const Parallelism& split, int64_t u);

// Virtual stage of `stage` that is its chunk `chunk`, from 0.
int64_t VirtualStageOf(const Parallelism& split, int64_t stage, int64_t chunk);

// Where stages lie one behind the other, the boundary that activations pass
// between virtual stages `u` and `u` + 1: that behind stage i is boundary i,
// and the way from the last stage to the first boundary pipeline - 1.
// kNoBoundary within a stage, between chains, and behind the last.
inline constexpr int64_t kNoBoundary = -1;
int64_t BoundaryBehind(const Parallelism& split, int64_t u);

// Whether virtual stage `u` starts with the embedding, or ends in the head.
bool HasEmbedding(const Parallelism& split, int64_t u);
bool HasHead(const Parallelism& split, int64_t u);

// Whether any virtual stage of `stage` does.
bool StageHasEmbedding(const Parallelism& split, int64_t stage);
bool StageHasHead(const Parallelism& split, int64_t stage);

// Layers of virtual stage `u`.
int64_t LayersOfVirtualStage(const Job& job, int64_t u);

// Those of them that are computed again whole; none unless recomputation is
// full.
int64_t RecomputedLayers(const Job& job, int64_t u);

// Most forwards whose backwards are still to come that `stage` has at a time,
// counted in chunks. Requires: kOneForwardOneBackward or kInterleaved.
int64_t ForwardsInFlight(const Job& job, int64_t stage);

// Of all forwards of `stage`, chunk by chunk, those whose layers are computed
// again: all, but for training.keep_microbatches.
double RecomputingShare(const Job& job, int64_t stage);

// Layers of all virtual stages of pipeline stage `stage`.
int64_t LayersOfStage(const Job& job, int64_t stage);

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_STAGES_H_
