// Random orders of the numbers below a power of two, each place found without
// the others. Dispatched at run time; thread-safe: no state.
#ifndef PRISM_CORE_STEP_COMPOSITION_ORDER_KERNELS_H_
#define PRISM_CORE_STEP_COMPOSITION_ORDER_KERNELS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace prism::step {

// Rounds that map the numbers below 2^bits one-to-one: each takes a multiple
// plus an offset, of which the high bits are then added to the low ones without
// carry.
struct OrderRounds {
  static constexpr int kRounds = 5;
  int bits = 0;
  std::array<uint32_t, kRounds> factor = {};  // odd
  std::array<uint32_t, kRounds> offset = {};
};

// out[i] = what the rounds make of i. Requires: n is a multiple of 8, bits at
// least 3 and below 32.
void OrderRow(const OrderRounds& rounds, size_t n, uint32_t* out);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_ORDER_KERNELS_H_
