// ControlWeights: what each normal score of a replica adds to its end.
//
// The end of a replica is a maximum over paths of sums of draws. The derivative
// of its mean by one draw is the chance that the draw lies on the longest path;
// the weighted sum of all scores with these slopes is the best linear guess at
// the end (Stein, 1981: E[z f(z)] = E[f'(z)]). Its own law is known exactly, so
// it serves as a control variate for what a sample says of the end.
#ifndef PRISM_CORE_STEP_COMPOSITION_CONTROL_WEIGHTS_H_
#define PRISM_CORE_STEP_COMPOSITION_CONTROL_WEIGHTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/step/composition/pipeline_model.h"

namespace prism::step {

// By score, in the order in which a replica's operations and hops draw them,
// and by micro-batch for the scores of loads. The sum of squares is 1, or all
// are 0 where nothing is random.
struct ControlWeights {
  std::vector<float> score;
  std::vector<float> load;
};

// Counts what lies on the longest paths of simulated replicas.
class CriticalPaths {
 public:
  // Requires: `model` outlives the object.
  explicit CriticalPaths(const PipelineModel& model);

  // One replica that ends with the last operation of `stage`.
  // `waited[operation * stride]` is not 0 where the operation started with its
  // arrival.
  void Add(int stage, const uint8_t* waited, size_t stride);

  ControlWeights Weights() const;

 private:
  const PipelineModel& model_;
  std::vector<int> last_;      // operation, by stage
  std::vector<int> previous_;  // of the same stage, by operation
  std::vector<int> sender_;    // of its arrival, by operation
  // Paths that hold the operation, and the hop behind it.
  std::vector<float> operation_, hop_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_CONTROL_WEIGHTS_H_
