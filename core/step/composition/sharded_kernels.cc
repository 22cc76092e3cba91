#include "core/step/composition/sharded_kernels.h"

// Order matters: foreach_target includes this file once per instruction set.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/step/composition/sharded_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
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

void TakeLatestAfter(const double* clock, const double* factor,
                     const double* seconds, size_t n, double* latest) {
  const DoubleTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto end =
        hn::MulAdd(hn::LoadU(d, factor + i), hn::LoadU(d, seconds + i),
                   hn::LoadU(d, clock + i));
    hn::StoreU(hn::Max(end, hn::LoadU(d, latest + i)), d, latest + i);
  }
}

void TakeLatestSum(const double* a, const double* b, double factor,
                   const double* c, size_t n, double* latest) {
  const DoubleTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto sum = hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    const auto end = hn::MulAdd(hn::LoadU(d, c + i), hn::Set(d, factor), sum);
    hn::StoreU(hn::Max(end, hn::LoadU(d, latest + i)), d, latest + i);
  }
}

using OctTag = hn::CappedTag<float, 8>;

void AddHazards(const HazardPlaces& places, float count, size_t n,
                float* hazard) {
  const OctTag f;
  const hn::RebindToSigned<OctTag> integer;
  const auto end = hn::Set(f, static_cast<float>(kHazardCells));
  const auto last = hn::Set(f, kHazardCells - 0.001f);
  const auto next_range = hn::Set(f, static_cast<float>(kHazardCells + 1));
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    const auto index = hn::Iota(f, static_cast<float>(i));
    auto position = hn::MulAdd(index, hn::Set(f, places.step[0]),
                               hn::Set(f, places.origin[0]));
    const auto before = hn::Lt(position, hn::Zero(f));
    auto offset = hn::Zero(f);
    for (int range = 1; range < kHazardRanges; ++range) {
      const auto behind = hn::Ge(position, end);
      position =
          hn::IfThenElse(behind,
                         hn::MulAdd(index, hn::Set(f, places.step[range]),
                                    hn::Set(f, places.origin[range])),
                         position);
      offset = hn::Add(offset, hn::IfThenElseZero(behind, next_range));
    }
    const auto behind = hn::Ge(position, end);
    position = hn::Min(hn::Max(position, hn::Zero(f)), last);
    const auto cell = hn::ConvertTo(integer, position);
    const auto part = hn::Sub(position, hn::ConvertTo(f, cell));
    const auto place = hn::Add(cell, hn::ConvertTo(integer, offset));
    const auto low = hn::GatherIndex(f, places.table, place);
    const auto high = hn::GatherIndex(f, places.table + 1, place);
    auto value = hn::MulAdd(part, hn::Sub(high, low), low);
    value = hn::IfThenZeroElse(behind, value);
    value = hn::IfThenElse(before, hn::Set(f, kEndlessHazard), value);
    hn::StoreU(hn::MulAdd(value, hn::Set(f, count), hn::LoadU(f, hazard + i)),
               f, hazard + i);
  }
}

void ExpMinus(size_t n, float* row) {
  const OctTag f;
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    hn::StoreU(hn::Exp(f, hn::Neg(hn::LoadU(f, row + i))), f, row + i);
  }
}

using QuadTag = hn::CappedTag<double, 4>;

void SplitHalves(ComplexRow root, size_t n, ComplexRow a, ComplexRow b) {
  const QuadTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto a_re = hn::LoadU(d, a.re + i), a_im = hn::LoadU(d, a.im + i);
    const auto b_re = hn::LoadU(d, b.re + i), b_im = hn::LoadU(d, b.im + i);
    const auto w_re = hn::LoadU(d, root.re + i);
    const auto w_im = hn::LoadU(d, root.im + i);
    const auto re = hn::Sub(a_re, b_re), im = hn::Sub(a_im, b_im);
    hn::StoreU(hn::Add(a_re, b_re), d, a.re + i);
    hn::StoreU(hn::Add(a_im, b_im), d, a.im + i);
    hn::StoreU(hn::MulSub(re, w_re, hn::Mul(im, w_im)), d, b.re + i);
    hn::StoreU(hn::MulAdd(re, w_im, hn::Mul(im, w_re)), d, b.im + i);
  }
}

void JoinHalves(ComplexRow root, size_t n, ComplexRow a, ComplexRow b) {
  const QuadTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto a_re = hn::LoadU(d, a.re + i), a_im = hn::LoadU(d, a.im + i);
    const auto b_re = hn::LoadU(d, b.re + i), b_im = hn::LoadU(d, b.im + i);
    const auto w_re = hn::LoadU(d, root.re + i);
    const auto w_im = hn::LoadU(d, root.im + i);
    const auto re = hn::MulAdd(b_re, w_re, hn::Mul(b_im, w_im));
    const auto im = hn::MulSub(b_im, w_re, hn::Mul(b_re, w_im));
    hn::StoreU(hn::Add(a_re, re), d, a.re + i);
    hn::StoreU(hn::Add(a_im, im), d, a.im + i);
    hn::StoreU(hn::Sub(a_re, re), d, b.re + i);
    hn::StoreU(hn::Sub(a_im, im), d, b.im + i);
  }
}

void MultiplyRows(ComplexRow b, size_t n, ComplexRow a) {
  const QuadTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto a_re = hn::LoadU(d, a.re + i), a_im = hn::LoadU(d, a.im + i);
    const auto b_re = hn::LoadU(d, b.re + i), b_im = hn::LoadU(d, b.im + i);
    hn::StoreU(hn::MulSub(a_re, b_re, hn::Mul(a_im, b_im)), d, a.re + i);
    hn::StoreU(hn::MulAdd(a_re, b_im, hn::Mul(a_im, b_re)), d, a.im + i);
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
HWY_EXPORT(TakeLatestAfter);
HWY_EXPORT(TakeLatestSum);
HWY_EXPORT(AddHazards);
HWY_EXPORT(ExpMinus);
HWY_EXPORT(SplitHalves);
HWY_EXPORT(JoinHalves);
HWY_EXPORT(MultiplyRows);

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

void TakeLatestAfter(const double* clock, const double* factor,
                     const double* seconds, size_t n, double* latest) {
  HWY_DYNAMIC_DISPATCH(TakeLatestAfter)(clock, factor, seconds, n, latest);
}

void TakeLatestSum(const double* a, const double* b, double factor,
                   const double* c, size_t n, double* latest) {
  HWY_DYNAMIC_DISPATCH(TakeLatestSum)(a, b, factor, c, n, latest);
}

void AddHazards(const HazardPlaces& places, float count, size_t n,
                float* hazard) {
  HWY_DYNAMIC_DISPATCH(AddHazards)(places, count, n, hazard);
}

void ExpMinus(size_t n, float* row) { HWY_DYNAMIC_DISPATCH(ExpMinus)(n, row); }

void SplitHalves(ComplexRow root, size_t n, ComplexRow a, ComplexRow b) {
  HWY_DYNAMIC_DISPATCH(SplitHalves)(root, n, a, b);
}

void JoinHalves(ComplexRow root, size_t n, ComplexRow a, ComplexRow b) {
  HWY_DYNAMIC_DISPATCH(JoinHalves)(root, n, a, b);
}

void MultiplyRows(ComplexRow b, size_t n, ComplexRow a) {
  HWY_DYNAMIC_DISPATCH(MultiplyRows)(b, n, a);
}

}  // namespace prism::step
#endif  // HWY_ONCE
