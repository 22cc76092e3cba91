// How fast operators are timed.

#include <benchmark/benchmark.h>

#include <vector>

#include "core/hardware/operator_time.h"

namespace prism::hardware {
namespace {

// Sizes in no order that could be predicted.
std::vector<MatrixProduct> Products() {
  std::vector<MatrixProduct> products;
  for (int i = 0; i < 4096; ++i) {
    products.push_back({.m = 500.0 + (i * 3701) % 9000,
                        .n = 300.0 + (i * 9103) % 20000,
                        .k = 128.0 + (i * 5303) % 16000});
  }
  return products;
}

void BM_MatrixProduct(benchmark::State& state) {
  const OperatorModel model(*FindAccelerator("h100-80gb-sxm"));
  const std::vector<MatrixProduct> products = Products();
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(model.MatrixProductSeconds(
        products[++i % products.size()], NumberFormat::kBf16));
  }
}
BENCHMARK(BM_MatrixProduct);

void BM_Attention(benchmark::State& state) {
  const OperatorModel model(*FindAccelerator("h100-80gb-sxm"));
  double sequence = 512;
  for (auto _ : state) {
    sequence = sequence < 9000 ? sequence + 64 : 512;
    benchmark::DoNotOptimize(model.AttentionSeconds(
        {.flops = 1e12, .sequence = sequence}, NumberFormat::kBf16));
  }
}
BENCHMARK(BM_Attention);

}  // namespace
}  // namespace prism::hardware
