// EndFit: the law of one replica's end, from a sample of it.
//
// Where the sample is dense its own quantiles count; further out, where the
// latest of many replicas lies, a shape with its skewness and kurtosis does.
#ifndef PRISM_CORE_STEP_COMPOSITION_END_FIT_H_
#define PRISM_CORE_STEP_COMPOSITION_END_FIT_H_

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "core/step/composition/end_control.h"
#include "core/step/composition/score_shape.h"

namespace prism::step {

// Immutable.
class EndFit {
 public:
  // A constant.
  EndFit() = default;

  // `ends` in the order of their draws: replica by replica, each followed by
  // its mirror image. With a `control` of the same draws, what chance did to
  // that is taken out of the moments; of the third also what it did to the
  // `curvature`, if that is known better than by the sample. Requires: at least
  // two.
  explicit EndFit(std::span<const float> ends,
                  const EndControl* control = nullptr,
                  const EndControl::Curvature* curvature = nullptr);

  // Units of the sample.
  double mean() const { return mean_; }
  double deviation() const { return deviation_; }

  // The quantile at score z is mean + deviation * shape.At(z).
  const ScoreShape& shape() const { return shape_; }

  // Parts of the sample, of replicas b, b + kBatches, ...
  static constexpr int kBatches = EndControl::kBatches;
  using BatchOffsets = std::array<double, kBatches>;

  // How far each part would put that quantile from the mean of all: from its
  // own mean, deviation, skewness and kurtosis.
  BatchOffsets OffsetsAt(double z) const;

  // Standard error of what parts put off by `offsets`.
  static double ErrorOf(const BatchOffsets& offsets);

  double ErrorAt(double z) const { return ErrorOf(OffsetsAt(z)); }

  // How far that quantile may be off because the law is extrapolated; 0 where
  // the sample is dense. The larger of two bounds: by how much a gamma with the
  // same skewness departs from the lognormal there, the two laws that sums of
  // skewed draws come near to; and what the last quantiles of the sample miss
  // the shape by, more than chance, grown with the fourth power of the score,
  // as the first term that the shape neglects does.
  double MisfitAt(double z) const;

 private:
  // Moments of standardised deviations in one part of the sample.
  struct Batch {
    double mean = 0;
    double deviation = 1;
    double cube = 0;
    double fourth = 0;
  };

  // One end of the law.
  struct Tail {
    double dense = 1;      // score up to which the sample is dense
    double dense_off = 0;  // what it misses the shape by there
    double off_rate = 0;   // further out, by the fourth power of the score
  };

  struct Estimate {
    double value = 0;
    double variance = 0;
  };

  // Sums of powers of the ends less an origin, times a scale.
  struct PowerSums;

  void TakeMoments(std::span<const float> ends, const EndControl* control,
                   const EndControl::Curvature* curvature);
  void TakeErrors();
  double ApartAt(double z) const;
  Estimate OverBatches(double Batch::*moment, double origin) const;
  double Shrunk(double Batch::*moment, double origin, double errors) const;
  void FollowSample(std::span<const float> ends);
  void FollowTail(int direction, double n,
                  const std::function<double(double)>& quantile,
                  std::span<double> offset);

  double mean_ = 0;
  double deviation_ = 0;
  // Of the sample, chance included.
  double sample_mean_ = 0;
  double sample_deviation_ = 0;
  double skew_ = 0;
  ScoreShape lognormal_;  // with that skewness alone
  std::array<Batch, kBatches> batches_;
  static constexpr int kTerms = 4;

  // Coefficients of the law's expansion in Hermite polynomials of the score, by
  // batch, less their mean.
  std::array<std::array<double, kTerms>, kBatches> coefficient_ = {};
  ScoreShape shape_;
  Tail lower_, upper_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_END_FIT_H_
