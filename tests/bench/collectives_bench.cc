// Time of one collective: found by shape, and from a curve made before.
#include <benchmark/benchmark.h>

#include "core/hardware/fabric.h"

namespace {

using prism::hardware::Cluster;
using prism::hardware::CollectiveKind;
using prism::hardware::Fabric;
using prism::hardware::GroupShape;

Fabric ThreeLevels() {
  Cluster cluster;
  cluster.accelerator = "h100-80gb-sxm";
  cluster.nodes = 128;
  cluster.fabric = {{"node", 8, 450e9, 0.5e-6, 1},
                    {"leaf", 256, 50e9, 2e-6, 1},
                    {"spine", 1024, 50e9, 3e-6, 2}};
  return Fabric(cluster,
                *prism::hardware::FindAccelerator(cluster.accelerator));
}

const GroupShape kShape = {.members = 512, .in_unit = {8, 256, 512}};

void CollectiveTime(benchmark::State& state) {
  const Fabric fabric = ThreeLevels();
  double bytes = 1;
  for (auto _ : state) {
    bytes = bytes < 1e9 ? 2 * bytes : 1;
    benchmark::DoNotOptimize(
        fabric.CollectiveTime(CollectiveKind::kAllReduce, bytes, kShape));
  }
}
BENCHMARK(CollectiveTime);

void CurveAt(benchmark::State& state) {
  const auto curve = ThreeLevels().CurveOf(CollectiveKind::kAllReduce, kShape);
  double bytes = 1;
  for (auto _ : state) {
    bytes = bytes < 1e9 ? 2 * bytes : 1;
    benchmark::DoNotOptimize(curve.At(bytes));
  }
}
BENCHMARK(CurveAt);

}  // namespace
