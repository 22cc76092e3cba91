// A second simulator of step profiles, to hold the engine against.
//
// Written from the text of docs/step-profile.md alone, in the plainest way:
// one rank, one draw and one scalar clock at a time, with the standard
// library's generators. It shares nothing with the engine but the profile's
// type. Not thread-safe.
#ifndef PRISM_CORE_STEP_REFERENCE_SIMULATOR_H_
#define PRISM_CORE_STEP_REFERENCE_SIMULATOR_H_

#include <cstdint>
#include <random>
#include <vector>

#include "core/step/step_profile.h"

namespace prism::step {

class ReferenceSimulator {
 public:
  // Requires: `profile` outlives the simulator.
  ReferenceSimulator(const StepProfile& profile, uint64_t seed);

  // Milliseconds of one random step.
  double RandomStep();
  // Milliseconds of the step with every draw at its stated mean.
  double NominalStep();

 private:
  struct Operation {
    bool forward = true;
    int virtual_stage = 0;
    int microbatch = 0;
  };
  // Clocks of the ranks of one stage, [replica][tensor].
  using Clocks = std::vector<std::vector<double>>;

  std::vector<Operation> GpipeOrder(int stage) const;
  std::vector<Operation> PlainOrder(int stage) const;
  std::vector<Operation> InterleavedOrder(int stage) const;
  std::vector<Operation> Order(int stage) const;

  double Draw(const stats::Distribution& distribution);
  double Random(const stats::Distribution& distribution);

  double RunStep();
  void DrawFactors();
  const Clocks* Awaited(const Operation& op) const;
  bool IsReady(const Operation& op) const;
  void RunOperation(int stage, const Operation& op);
  void RunSegment(int stage, const Operation& op,
                  const ProfileSegment& segment);
  void SynchroniseTensor(const ProfileSegment& segment, Clocks& clocks);
  void SynchroniseData(const ProfileSegment& segment, Clocks& clocks);
  void Send(const Operation& op, const Clocks& clocks);
  double Close(int stage);
  double Slowdown(int replica, int stage, int tensor) const;

  const StepProfile& profile_;
  const int last_virtual_stage_;
  std::mt19937_64 generator_;
  bool nominal_ = false;

  double compute_regime_ = 1;
  double network_regime_ = 1;
  std::vector<std::vector<double>> load_;  // [replica][micro-batch]
  std::vector<Clocks> clocks_;             // by stage
  // By receiving virtual stage and micro-batch; empty until sent.
  std::vector<std::vector<Clocks>> forward_arrival_, backward_arrival_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_REFERENCE_SIMULATOR_H_
