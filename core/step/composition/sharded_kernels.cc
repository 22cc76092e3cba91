#include "core/step/composition/sharded_kernels.h"

// Order matters: foreach_target includes this file once per instruction set.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/step/composition/sharded_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace prism::step {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::CappedTag<double, 8>;
using HalfFloatTag = hn::Rebind<float, DoubleTag>;
using V = hn::Vec<HalfFloatTag>;

// clock += factor * (mean + deviation).
void Advance(V deviation, const double* factor, double mean, double* clock) {
  const DoubleTag d;
  const auto seconds = hn::Add(hn::PromoteTo(d, deviation), hn::Set(d, mean));
  hn::StoreU(hn::MulAdd(seconds, hn::LoadU(d, factor), hn::LoadU(d, clock)), d,
             clock);
}

void MixScores(const std::array<const float*, 4>& row,
               const std::array<float, 4>& weight, size_t n, float* out) {
  const hn::CappedTag<float, 16> f;
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    auto sum = hn::Mul(hn::LoadU(f, row[0] + i), hn::Set(f, weight[0]));
    for (size_t j = 1; j < 4; ++j) {
      sum = hn::MulAdd(hn::LoadU(f, row[j] + i), hn::Set(f, weight[j]), sum);
    }
    hn::StoreU(sum, f, out + i);
  }
}

void AddPolynomial(const float* score, const double* factor, double mean,
                   const CurvePolynomial& polynomial, size_t n, double* clock) {
  const HalfFloatTag f;
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    const V z = hn::LoadU(f, score + i);
    V sum = hn::Set(f, polynomial[0]);
    for (size_t j = 1; j < kCurveTerms; ++j) {
      sum = hn::MulAdd(sum, z, hn::Set(f, polynomial[j]));
    }
    Advance(sum, factor + i, mean, clock + i);
  }
}

void AddTable(const float* score, const double* factor, double mean,
              const float* table, size_t n, double* clock) {
  const HalfFloatTag f;
  const hn::RebindToSigned<HalfFloatTag> integer;
  const V end = hn::Set(f, kCurveEnd);
  const V scale = hn::Set(f, kCurveCells / (2 * kCurveEnd));
  // Just below the last node, so that its right neighbour exists.
  const V last = hn::Set(f, kCurveCells - 0.001f);
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    V position = hn::Mul(hn::Add(hn::LoadU(f, score + i), end), scale);
    position = hn::Min(hn::Max(position, hn::Zero(f)), last);
    const auto cell = hn::ConvertTo(integer, position);
    const V part = hn::Sub(position, hn::ConvertTo(f, cell));
    const V low = hn::GatherIndex(f, table, cell);
    const V high = hn::GatherIndex(f, table + 1, cell);
    Advance(hn::MulAdd(part, hn::Sub(high, low), low), factor + i, mean,
            clock + i);
  }
}

void AddScaledConstant(const double* factor, double seconds, size_t n,
                       double* clock) {
  const DoubleTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(hn::MulAdd(hn::LoadU(d, factor + i), hn::Set(d, seconds),
                          hn::LoadU(d, clock + i)),
               d, clock + i);
  }
}

void TakeLatest(const double* clock, size_t n, double* latest) {
  const DoubleTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(hn::Max(hn::LoadU(d, clock + i), hn::LoadU(d, latest + i)), d,
               latest + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace prism::step
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace prism::step {

HWY_EXPORT(MixScores);
HWY_EXPORT(AddPolynomial);
HWY_EXPORT(AddTable);
HWY_EXPORT(AddScaledConstant);
HWY_EXPORT(TakeLatest);

void MixScores(const std::array<const float*, 4>& row,
               const std::array<float, 4>& weight, size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(MixScores)(row, weight, n, out);
}

void AddPolynomial(const float* score, const double* factor, double mean,
                   const CurvePolynomial& polynomial, size_t n, double* clock) {
  HWY_DYNAMIC_DISPATCH(AddPolynomial)
  (score, factor, mean, polynomial, n, clock);
}

void AddTable(const float* score, const double* factor, double mean,
              const float* table, size_t n, double* clock) {
  HWY_DYNAMIC_DISPATCH(AddTable)(score, factor, mean, table, n, clock);
}

void AddScaledConstant(const double* factor, double seconds, size_t n,
                       double* clock) {
  HWY_DYNAMIC_DISPATCH(AddScaledConstant)(factor, seconds, n, clock);
}

void TakeLatest(const double* clock, size_t n, double* latest) {
  HWY_DYNAMIC_DISPATCH(TakeLatest)(clock, n, latest);
}

}  // namespace prism::step
#endif  // HWY_ONCE
