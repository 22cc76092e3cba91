// A second simulator of step profiles, to hold the engine against.
//
// Written from the text of docs/step-profile.md alone, in the plainest way:
// one rank, one draw and one scalar clock at a time, with the standard
// library's generators. It shares nothing with the engine but the profile's
// type and, of schedules that the text gives as tables, their orders. Not
// thread-safe.
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
  // Clocks of the ranks of one stage, [replica][tensor].
  using Clocks = std::vector<std::vector<double>>;

  std::vector<Operation> PlainOrder(int stage) const;
  std::vector<Operation> InterleavedOrder(int stage) const;
  std::vector<Operation> BreadthFirstOrder(int stage) const;
  std::vector<Operation> DelayedWeightsOrder(int stage, int warm_up,
                                             int delay) const;
  std::vector<Operation> Order(int stage) const;
  int Neighbour(const Operation& op, int direction) const;

  double Draw(const stats::Distribution& distribution);

  double RunStep();
  void DrawFactors();
  const Clocks* Awaited(const Operation& op) const;
  bool IsReady(const Operation& op) const;
  void RunOperation(int stage, const Operation& op);
  void RunSegments(int stage, const Operation& op,
                   const std::vector<ProfileSegment>& segments);
  void RunSegment(int stage, const Operation& op,
                  const ProfileSegment& segment);
  void SynchroniseTensor(const ProfileSegment& segment, Clocks& clocks);
  void SynchroniseData(const ProfileSegment& segment, Clocks& clocks);
  void Send(const Operation& op, const Clocks& clocks);
  double Close(int stage);
  double Slowdown(int replica, int stage, int tensor) const;

  const StepProfile& profile_;
  std::vector<int> stage_of_;
  int chains_ = 1;
  // By stage, of the schedules whose order it does not make itself.
  std::vector<std::vector<Operation>> given_order_;
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
