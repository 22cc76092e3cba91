// The latest of independent, normally distributed ends.
#ifndef PRISM_CORE_PLACEMENT_NORMAL_MAXIMUM_H_
#define PRISM_CORE_PLACEMENT_NORMAL_MAXIMUM_H_

#include <span>

namespace prism::placement {

// `count` normals of one mean.
struct EqualNormals {
  double mean = 0;
  double count = 1;
};

struct MaximumMoments {
  double mean = 0;
  double variance = 0;
};

// Moments of the largest of normals with these means and one deviation, by the
// trapezoid rule over its distribution function (error below 1e-5 deviations).
// Thread-safe. Requires: not empty; deviation >= 0.
MaximumMoments MaximumOfNormals(std::span<const EqualNormals> normals,
                                double deviation);

// Means that lie further below the largest, in deviations, do not count.
inline constexpr double kNegligibleDeviations = 7;

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_NORMAL_MAXIMUM_H_
