// The shape of a distribution that is known by its quantiles.
#ifndef PRISM_CLIENT_RENDER_DENSITY_H_
#define PRISM_CLIENT_RENDER_DENSITY_H_

#include <vector>

namespace prism::render {

// Relative density in `bins` bins of equal width between the first and the
// last quantile, the highest bin 1.
//
// quantiles[i] is the value at the probability whose normal score is
// scores[i]: p50 has score 0, p95 1.645. Both rise. Between the points the
// score is the monotone cubic of the value (Fritsch and Carlson, SIAM J. Numer.
// Anal. 17, 1980): straight for a normal distribution, so that the picture has
// no peaks that the distribution has not. Where the first and the last
// quantile are equal there is no width to show: empty.
std::vector<double> RelativeDensity(const std::vector<double>& scores,
                                    const std::vector<double>& quantiles,
                                    int bins);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_DENSITY_H_
