// Writes what the reference method says of RandomShardedProfile(FIRST) to
// RandomShardedProfile(LAST), one line each, for tests/data/sharded. Takes
// seconds a profile.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "core/step/composition/sharded_profiles.h"
#include "core/step/simulate.h"

namespace prism::step {
namespace {

// As many samples as this many draws allow, within bounds.
constexpr double kDraws = 5e8;
constexpr double kFewestSamples = 25000, kMostSamples = 250000;
// Far from the keys of the answers that are held against it.
constexpr uint64_t kKey = 0x5EED0000;

bool WriteReference(uint64_t seed) {
  const StepProfile profile = RandomShardedProfile(seed);
  const StepGraph graph = BuildGraph(profile);
  const auto samples = static_cast<int64_t>(
      std::clamp(kDraws / DrawsOf(profile), kFewestSamples, kMostSamples));
  base::InlineExecutor executor;
  const auto time = Simulate(graph,
                             {.method = Method::kMonteCarlo,
                              .samples = samples,
                              .random_key = kKey + seed},
                             base::UnlimitedBudget(), executor);
  const auto nominal = SimulateNominal(graph);
  if (!time.ok() || !nominal.ok()) return false;
  std::printf("%llu,%.12g,%lld", static_cast<unsigned long long>(seed),
              nominal->seconds, static_cast<long long>(time->samples));
  for (double seconds : time->quantile_seconds) std::printf(",%.9g", seconds);
  for (double error : time->standard_error_seconds) {
    std::printf(",%.4g", error);
  }
  std::printf("\n");
  std::fflush(stdout);
  return true;
}

}  // namespace
}  // namespace prism::step

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FIRST LAST\n", argv[0]);
    return EXIT_FAILURE;
  }
  const uint64_t last = std::strtoull(argv[2], nullptr, 10);
  for (uint64_t seed = std::strtoull(argv[1], nullptr, 10); seed <= last;
       ++seed) {
    if (!prism::step::WriteReference(seed)) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
