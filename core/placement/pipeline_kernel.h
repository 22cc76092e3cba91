// The inner loop of placement: one pass through a pipeline's schedule for
// several replicas, or several draws of one replica, at once.
//
// Dispatched at run time to the best instruction set; thread-safe: no state.
#ifndef PRISM_CORE_PLACEMENT_PIPELINE_KERNEL_H_
#define PRISM_CORE_PLACEMENT_PIPELINE_KERNEL_H_

#include <cstdint>
#include <vector>

namespace prism::placement {

// Columns of one pass. Every row below has as many floats.
inline constexpr int kColumns = 16;

// One operation, in an order in which each comes after what it waits for.
struct PipelineOperation {
  int32_t stage = 0;
  int32_t receives = 0;  // row of `arrivals`; row 0 stays at time 0
  int32_t sends = 0;     // row of `arrivals`; nobody reads row 1
  float compute = 0;     // seconds at slowdown 1
  float network = 0;     // seconds
  float hop = 0;         // seconds until what it sends arrives
  float deviation = 0;   // seconds, of compute and network together
};

inline constexpr int32_t kNothingReceived = 0;
inline constexpr int32_t kNobodyReceives = 1;

// Runs `operations`: each starts when its stage and its arrival are there and
// takes compute * slowdown + network + deviation * score.
//
// Rows: slowdown[stage], score[operation] (null: all 0), clock[stage] (set to
// the end of the stage), arrivals (as many as the operations name).
void RunPipeline(const std::vector<PipelineOperation>& operations, int stages,
                 const float* slowdown, const float* score, float* clock,
                 float* arrivals);

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_PIPELINE_KERNEL_H_
