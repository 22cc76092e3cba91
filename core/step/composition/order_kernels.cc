#include "core/step/composition/order_kernels.h"

// Order matters: foreach_target includes this file once per instruction set.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/step/composition/order_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace prism::step {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void OrderRow(const OrderRounds& rounds, size_t n, uint32_t* out) {
  const hn::CappedTag<uint32_t, 8> w;
  const auto mask = hn::Set(w, (uint32_t{1} << rounds.bits) - 1);
  const int fold = rounds.bits / 2;
  for (size_t i = 0; i < n; i += hn::Lanes(w)) {
    auto x = hn::Iota(w, static_cast<uint32_t>(i));
    for (int r = 0; r < OrderRounds::kRounds; ++r) {
      x = hn::Add(hn::Mul(x, hn::Set(w, rounds.factor[r])),
                  hn::Set(w, rounds.offset[r]));
      x = hn::And(x, mask);
      x = hn::Xor(x, hn::ShiftRightSame(x, fold));
    }
    hn::StoreU(x, w, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace prism::step
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace prism::step {

HWY_EXPORT(OrderRow);

void OrderRow(const OrderRounds& rounds, size_t n, uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(OrderRow)(rounds, n, out);
}

}  // namespace prism::step
#endif  // HWY_ONCE
