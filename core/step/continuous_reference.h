// A second simulator of profiles whose steps follow each other without a
// flush, to hold the engine against.
//
// Written from "Steps without a flush" of docs/step-profile.md alone, in the
// plainest way: no graph, no plan, one scalar clock a rank. Not thread-safe.
#ifndef PRISM_CORE_STEP_CONTINUOUS_REFERENCE_H_
#define PRISM_CORE_STEP_CONTINUOUS_REFERENCE_H_

#include <cstdint>
#include <random>
#include <vector>

#include "core/step/step_profile.h"

namespace prism::step {

class ContinuousReference {
 public:
  // Requires: `profile` outlives the simulator; a continuous schedule.
  ContinuousReference(const StepProfile& profile, uint64_t seed);

  // Milliseconds of one random step.
  double RandomStep();
  // Milliseconds of the step with every draw at its stated mean.
  double NominalStep();

 private:
  // [replica][tensor index].
  using Clocks = std::vector<std::vector<double>>;

  // A pass of one micro-batch through one model stage, on one worker.
  struct Pass {
    bool forward = true;
    int model_stage = 0;
    int microbatch = 0;
  };

  double RunStep();
  // Whether it could: what it waits for has run.
  bool RunPass(int worker, const Pass& pass);
  void RunSegments(int worker, const Pass& pass,
                   const std::vector<ProfileSegment>& segments);
  void RunSegment(int worker, const Pass& pass, const ProfileSegment& segment);
  // The replicas wait for each other, index by index.
  void MeetReplicas(const stats::Distribution& law, Clocks& clocks);
  // Begins an execution.
  void Upload(int worker);
  double Close(int worker);
  std::vector<Pass> PassesOf(int worker, int steps) const;
  // After which of a worker's passes it closes a step.
  bool EndsStep(int worker, const Pass& pass) const;
  int WorkerOf(const Pass& pass) const;
  // Empty where it has not run.
  Clocks& EndOf(const Pass& pass);
  double Draw(const stats::Distribution& distribution);
  double Slowdown(int replica, int worker, int tensor) const;

  const StepProfile& profile_;
  const bool round_robin_;
  const int model_stages_;
  std::mt19937_64 generator_;
  bool nominal_ = false;

  double compute_regime_ = 1, network_regime_ = 1;
  std::vector<std::vector<double>> load_;  // [replica][micro-batch of the run]
  std::vector<Clocks> clocks_;             // by worker
  std::vector<Clocks> uploaded_;           // by worker, of what it runs next
  // [model stage][micro-batch].
  std::vector<std::vector<Clocks>> forward_end_, backward_end_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_CONTINUOUS_REFERENCE_H_
