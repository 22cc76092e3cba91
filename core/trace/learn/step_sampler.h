// StepSampler: draws of the work of all operations of an unseen step.
//
// A step draw is a place between two observed steps, which lie in the order of
// their replayed seconds: quantiles of what is drawn are then those that
// SortedQuantile has of what was observed, and a rare stall is as rare.
#ifndef PRISM_CORE_TRACE_LEARN_STEP_SAMPLER_H_
#define PRISM_CORE_TRACE_LEARN_STEP_SAMPLER_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "core/trace/learn/step_model.h"

namespace prism::trace {

// `model` must outlive the sampler. Not thread-safe.
class StepSampler {
 public:
  StepSampler(const StepModel& model, uint64_t seed);

  // Writes the work of every operation, seconds. Returns the delays between
  // operations of the step: measured less replayed seconds.
  double Draw(std::span<double> work);

 private:
  // `weight` of step `above`, the rest of step `below`.
  struct Place {
    size_t below = 0;
    size_t above = 0;
    double weight = 0;
  };

  size_t Below(size_t count);
  void DrawPlaces();
  void DrawComputes(std::span<double> work);
  void DrawBundle(const Bundle& bundle, size_t replica, std::span<double> work);
  void DrawClosing(std::span<double> work);
  void DrawTransfers(std::span<double> work);
  double At(const Place& place, int32_t operation) const;

  const StepModel& model_;
  std::mt19937_64 random_;
  std::vector<size_t> ranked_;          // steps by replayed seconds
  std::vector<double> rest_, typical_;  // factors, not logarithms
  std::vector<size_t> alike_;           // replicas without a rest of their own
  std::vector<Place> places_;           // by step draw
  std::vector<double> effect_;          // by component
  std::vector<size_t> order_;           // of micro-batches
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_LEARN_STEP_SAMPLER_H_
