// Pipeline schedules by name, as orders.
//
// Each states its source, its memory (micro-batches a stage keeps at most, the
// weight part needing all of an activation unless said otherwise) and its
// bubble (idle time within a stage's span). p stages, v chunks a stage, m
// micro-batches; F, B and W are the times of a whole stage's forward, backward
// input and weight part. Every order passes Validate().
//
// Requires, of all: sizes at least 1. Errors, where there are any:
// INVALID_ARGUMENT, naming the size and what it must be.
#ifndef PRISM_CORE_STEP_SCHEDULES_GENERATORS_H_
#define PRISM_CORE_STEP_SCHEDULES_GENERATORS_H_

#include <absl/status/statusor.h>

#include "core/step/schedules/pipeline_order.h"

namespace prism::step {

// All forwards, then all backwards (GPipe, arXiv 1811.06965). Memory m; bubble
// (p - 1)(F + B + W).
PipelineOrder GpipeOrder(int stages, int microbatches);

// One forward, one backward after a warm-up (PipeDream-Flush, arXiv
// 2006.09503). Memory of stage s: p - s; bubble as GpipeOrder().
PipelineOrder OneForwardOneBackwardOrder(int stages, int microbatches);

// Interleaving of any number of micro-batches, as Megatron-LM does it: they
// are taken in groups of `group`, the last of which may be smaller. Virtual
// stages may take any time, nothing too: chunks of uneven size change no order.
// Memory of stage s: at most (2 (p - s - 1) + (v - 1) group + 1) / v, and m
// where m = p and all forwards are the warm-up. Bubble (p - 1)(F + B + W) / v
// where p divides m.
//
// `group` is at least p and leaves a remainder of m that is 0 or at least p;
// where m < p, it is m. Errors: INVALID_ARGUMENT otherwise.
absl::StatusOr<PipelineOrder> InterleavedOrder(int stages, int chunks,
                                               int microbatches, int group);

// The smallest group that InterleavedOrder() takes: p where p divides m.
int SmallestGroup(int stages, int microbatches);

// Looped breadth-first (arXiv 2211.05953): each chunk runs all micro-batches
// before the next chunk starts, so that sharded parameters are gathered once a
// pass. Memory m; bubble (p - 1)(F + B + W) / v for m >= p.
PipelineOrder BreadthFirstOrder(int stages, int chunks, int microbatches);

// Zero-bubble H1 (arXiv 2401.10241, section 2.3): 1f1b whose stage s delays
// weight parts by s micro-batches. Memory p; bubble (p - 1)(F + B - W) at
// F = B = W and m >= 2p - 1.
PipelineOrder ZeroBubbleH1Order(int stages, int microbatches);

// Zero-bubble H2 (same): twice the warm-up. Memory 2p - 1; bubble
// (p - 1)(F + B - 2W) at F = B = W and m >= 2p - 1.
PipelineOrder ZeroBubbleH2Order(int stages, int microbatches);

// V-shaped zero-bubble (arXiv 2401.10241, section 6; V-ZB of arXiv 2405.15362):
// virtual stages s and 2p - 1 - s on stage s. Memory p; no bubble at F = B = W
// and m >= 2p - 1.
PipelineOrder ZeroBubbleVOrder(int stages, int microbatches);

// V-shaped with half of 1f1b's memory (V-Half of arXiv 2405.15362): memory at
// most (p + 2) / 2, bubble about half of 1f1b's at F = B = W.
PipelineOrder HalfMemoryVOrder(int stages, int microbatches);

// V-shaped with a third of 1f1b's memory (V-Min of arXiv 2405.15362): memory
// at most (p + 4) / 3, bubble about 2/3 of 1f1b's at F = B = W.
PipelineOrder ThirdMemoryVOrder(int stages, int microbatches);

// DualPipe (DeepSeek-V3 technical report, arXiv 2412.19437, section 3.2.1):
// micro-batches enter from both ends, half at each; every stage holds two
// stages' parameters. Two chains. Memory p + 1; bubble
// (p / 2 - 1)(F&B + (B + W) - 3W), with F&B the time of a forward and a
// backward run beside each other. Here they follow each other, forward first,
// and the bubble is half of that at F = B = W.
//
// Errors: INVALID_ARGUMENT if p or m is odd, or m < 2p.
absl::StatusOr<PipelineOrder> DualPipeOrder(int stages, int microbatches);

// Its V form, DualPipe cut in half: virtual stages s and 2p - 1 - s on stage
// s, one chain. Memory p + 1/2; bubble as of 2p stages with half the times.
//
// Errors: INVALID_ARGUMENT if m < 2p.
absl::StatusOr<PipelineOrder> DualPipeVOrder(int stages, int microbatches);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULES_GENERATORS_H_
