#include "core/step/composition/pipeline_kernels.h"

// Order matters: foreach_target includes this file once per instruction set.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/step/composition/pipeline_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace prism::step {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, kPipelineRow>;
using IntTag = hn::RebindToSigned<FloatTag>;
using WordTag = hn::RebindToUnsigned<FloatTag>;
using WideTag = hn::RepartitionToWide<WordTag>;
using V = hn::Vec<FloatTag>;
using W = hn::Vec<WordTag>;

constexpr uint32_t kMultiplier0 = 0xD2511F53;
constexpr uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 7;

// Both halves of the products of 32-bit lanes.
void MultiplyHighLow(W a, W multiplier, W& high, W& low) {
  const WordTag w;
  const WideTag wide;
  const auto even = hn::MulEven(a, multiplier);
  const auto odd = hn::MulEven(
      hn::BitCast(w, hn::ShiftRight<32>(hn::BitCast(wide, a))), multiplier);
  low =
      hn::OddEven(hn::BitCast(w, hn::ShiftLeft<32>(odd)), hn::BitCast(w, even));
  high = hn::OddEven(hn::BitCast(w, odd),
                     hn::BitCast(w, hn::ShiftRight<32>(even)));
}

// The normal score of the sum x of four random bytes, scaled to about
// -1 ... 1, as an odd polynomial in x: a least-squares fit to the quantile of
// the normal at the mid-probability of each sum, scaled to variance 1.
constexpr float kScoreOfSum[] = {6.3918027f,   -9.8765322f, 6.5675223f,
                                 -1.63976596f, 0.66924498f, 3.3254033f};

V Score(W word) {
  const FloatTag f;
  const IntTag i;
  const WordTag w;
  const W bytes = hn::Set(w, 0x00FF00FFu);
  const W pairs =
      hn::Add(hn::And(word, bytes), hn::And(hn::ShiftRight<8>(word), bytes));
  const W sum =
      hn::Add(hn::And(pairs, hn::Set(w, 0xFFFFu)), hn::ShiftRight<16>(pairs));
  const V x = hn::Mul(
      hn::Sub(hn::ConvertTo(f, hn::BitCast(i, sum)), hn::Set(f, 510.0f)),
      hn::Set(f, 1.0f / 512));
  const V square = hn::Mul(x, x);
  V polynomial = hn::Set(f, kScoreOfSum[0]);
  for (int term = 1; term < 6; ++term) {
    polynomial = hn::MulAdd(polynomial, square, hn::Set(f, kScoreOfSum[term]));
  }
  return hn::Mul(polynomial, x);
}

void ScoreRows(uint64_t key, uint32_t group, uint32_t salt,
               const uint32_t* samples, size_t n, float* out) {
  const FloatTag f;
  const WordTag w;
  const W m0 = hn::Set(w, kMultiplier0);
  const W m1 = hn::Set(w, kMultiplier1);
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    W x0 = hn::Set(w, group);
    W x1 = hn::Set(w, salt);
    W x2 = hn::LoadU(w, samples + i);
    W x3 = hn::Zero(w);
    uint32_t k0 = static_cast<uint32_t>(key);
    uint32_t k1 = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < kRounds; ++round) {
      W high0, low0, high1, low1;
      MultiplyHighLow(x0, m0, high0, low0);
      MultiplyHighLow(x2, m1, high1, low1);
      x0 = hn::Xor(hn::Xor(high1, x1), hn::Set(w, k0));
      x2 = hn::Xor(hn::Xor(high0, x3), hn::Set(w, k1));
      x1 = low1;
      x3 = low0;
      k0 += kWeyl0;
      k1 += kWeyl1;
    }
    const V scores[kScoreRows] = {Score(x0), Score(x1), Score(x2), Score(x3)};
    for (size_t row = 0; row < kScoreRows; ++row) {
      float* to = out + 2 * n * row + i;
      hn::StoreU(scores[row], f, to);
      hn::StoreU(hn::Neg(scores[row]), f, to + n);
    }
  }
}

// Leading terms that are 0 are left out: kFirst is 0 or those of a short one.
template <size_t kFirst>
V Evaluate(V z, const ScorePolynomial& c) {
  const FloatTag f;
  V sum = hn::Set(f, c[kFirst]);
  for (size_t i = kFirst + 1; i < c.size(); ++i) {
    sum = hn::MulAdd(sum, z, hn::Set(f, c[i]));
  }
  return sum;
}

constexpr size_t kShort = kPolynomialTerms - kShortTerms;

bool IsShort(const ScorePolynomial& c) {
  for (size_t i = 0; i < kShort; ++i) {
    if (c[i] != 0) return false;
  }
  return true;
}

// Calls `row` with the function that evaluates `polynomial`.
template <class Row>
void WithEvaluation(const ScorePolynomial& polynomial, const Row& row) {
  if (IsShort(polynomial)) {
    row([&](V z) { return Evaluate<kShort>(z, polynomial); });
  } else {
    row([&](V z) { return Evaluate<0>(z, polynomial); });
  }
}

void PolynomialRow(const float* score, size_t n,
                   const ScorePolynomial& polynomial, float* out) {
  const FloatTag f;
  WithEvaluation(polynomial, [&](const auto& value) {
    for (size_t i = 0; i < n; i += hn::Lanes(f)) {
      hn::StoreU(value(hn::LoadU(f, score + i)), f, out + i);
    }
  });
}

void TableRow(const float* score, size_t n, const float* table, float* out) {
  const FloatTag f;
  const IntTag integer;
  const V end = hn::Set(f, kTableEnd);
  const V scale = hn::Set(f, kTableNodes / (2 * kTableEnd));
  // Just below the last node, so that its right neighbour exists.
  const V last = hn::Set(f, kTableNodes - 0.001f);
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    V position = hn::Mul(hn::Add(hn::LoadU(f, score + i), end), scale);
    position = hn::Min(hn::Max(position, hn::Zero(f)), last);
    const auto node = hn::ConvertTo(integer, position);
    const V part = hn::Sub(position, hn::ConvertTo(f, node));
    const V low = hn::GatherIndex(f, table, node);
    const V high = hn::GatherIndex(f, table + 1, node);
    hn::StoreU(hn::MulAdd(part, hn::Sub(high, low), low), f, out + i);
  }
}

void AddRow(const float* row, size_t n, float* out) {
  const FloatTag f;
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    hn::StoreU(hn::Add(hn::LoadU(f, row + i), hn::LoadU(f, out + i)), f,
               out + i);
  }
}

void AddScaledRow(const float* row, float factor, size_t n, float* out) {
  const FloatTag f;
  const V by = hn::Set(f, factor);
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    hn::StoreU(hn::MulAdd(hn::LoadU(f, row + i), by, hn::LoadU(f, out + i)), f,
               out + i);
  }
}

void ScaleRow(const float* shift, const float* spread, size_t n,
              float* deviation) {
  const FloatTag f;
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    hn::StoreU(hn::MulAdd(hn::LoadU(f, deviation + i), hn::LoadU(f, spread + i),
                          hn::LoadU(f, shift + i)),
               f, deviation + i);
  }
}

void LoadRows(const float* load, float compute_mean, float network_share,
              size_t n, float* shift, float* spread) {
  const FloatTag f;
  const V mean = hn::Set(f, compute_mean);
  const V share = hn::Set(f, network_share);
  const V one = hn::Set(f, 1.0f);
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    const V by = hn::LoadU(f, load + i);
    // load (C + shift) - C.
    hn::StoreU(hn::MulAdd(by, hn::LoadU(f, shift + i),
                          hn::Mul(hn::Sub(by, one), mean)),
               f, shift + i);
    // load s (1 - share) + share, where `spread` is s (1 - share) + share.
    const V own = hn::Sub(hn::LoadU(f, spread + i), share);
    hn::StoreU(hn::MulAdd(by, own, share), f, spread + i);
  }
}

void AdvanceAfter(const float* arrival, float own, float other,
                  const float* deviation, size_t n, float* clock) {
  const FloatTag f;
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    const V start =
        hn::Max(hn::Add(hn::LoadU(f, clock + i), hn::Set(f, own)),
                hn::Add(hn::LoadU(f, arrival + i), hn::Set(f, other)));
    hn::StoreU(hn::Add(start, hn::LoadU(f, deviation + i)), f, clock + i);
  }
}

void AdvancePolynomialAfter(const float* arrival, float own, float other,
                            const float* score,
                            const ScorePolynomial& polynomial, size_t n,
                            float* clock) {
  const FloatTag f;
  WithEvaluation(polynomial, [&](const auto& value) {
    for (size_t i = 0; i < n; i += hn::Lanes(f)) {
      const V start =
          hn::Max(hn::Add(hn::LoadU(f, clock + i), hn::Set(f, own)),
                  hn::Add(hn::LoadU(f, arrival + i), hn::Set(f, other)));
      hn::StoreU(hn::Add(start, value(hn::LoadU(f, score + i))), f, clock + i);
    }
  });
}

void SumPolynomial(const float* row, const float* score,
                   const ScorePolynomial& polynomial, size_t n, float* out) {
  const FloatTag f;
  WithEvaluation(polynomial, [&](const auto& value) {
    for (size_t i = 0; i < n; i += hn::Lanes(f)) {
      hn::StoreU(hn::Add(hn::LoadU(f, row + i), value(hn::LoadU(f, score + i))),
                 f, out + i);
    }
  });
}

void AdvancePolynomial(const float* score, const ScorePolynomial& polynomial,
                       size_t n, float* clock) {
  SumPolynomial(clock, score, polynomial, n, clock);
}

// Adds up powers of y; `weigh` makes of y at i what is summed first.
template <class Weigh>
void SumPowers(const float* x, size_t n, float origin, float scale,
               const Weigh& weigh, double* sums) {
  const FloatTag f;
  float total[kPowers][kPowerLanes] = {};
  for (size_t lane = 0; lane < kPowerLanes; lane += hn::Lanes(f)) {
    V power[kPowers] = {hn::Zero(f), hn::Zero(f), hn::Zero(f), hn::Zero(f)};
    for (size_t i = lane; i < n; i += kPowerLanes) {
      const V y = hn::Mul(hn::Sub(hn::LoadU(f, x + i), hn::Set(f, origin)),
                          hn::Set(f, scale));
      const V first = weigh(y, i);
      const V square = hn::Mul(first, y);
      const V cube = hn::Mul(square, y);
      power[0] = hn::Add(power[0], first);
      power[1] = hn::Add(power[1], square);
      power[2] = hn::Add(power[2], cube);
      power[3] = hn::MulAdd(cube, y, power[3]);
    }
    for (size_t p = 0; p < kPowers; ++p) {
      hn::StoreU(power[p], f, &total[p][lane]);
    }
  }
  for (size_t p = 0; p < kPowers; ++p) {
    for (size_t i = 0; i < kPowerLanes; ++i) {
      sums[p * kPowerLanes + i] += static_cast<double>(total[p][i]);
    }
  }
}

void AddPowers(const float* x, size_t n, float origin, float scale,
               double* sums) {
  SumPowers(
      x, n, origin, scale, [](V y, size_t) { return y; }, sums);
}

void AddTermPowers(const float* x, const float* term, size_t n, float origin,
                   float scale, double* sums) {
  const auto weigh = [term](V y, size_t i) {
    return hn::Mul(y, hn::LoadU(FloatTag(), term + i));
  };
  SumPowers(x, n, origin, scale, weigh, sums);
}

void SumRow(const float* a, const float* b, size_t n, float* out) {
  const FloatTag f;
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    hn::StoreU(hn::Add(hn::LoadU(f, a + i), hn::LoadU(f, b + i)), f, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace prism::step
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace prism::step {

HWY_EXPORT(ScoreRows);
HWY_EXPORT(PolynomialRow);
HWY_EXPORT(TableRow);
HWY_EXPORT(AddRow);
HWY_EXPORT(ScaleRow);
HWY_EXPORT(LoadRows);
HWY_EXPORT(AdvanceAfter);
HWY_EXPORT(AdvancePolynomialAfter);
HWY_EXPORT(AdvancePolynomial);
HWY_EXPORT(SumPolynomial);
HWY_EXPORT(SumRow);
HWY_EXPORT(AddPowers);
HWY_EXPORT(AddTermPowers);
HWY_EXPORT(AddScaledRow);

void ScoreRows(uint64_t key, uint32_t group, uint32_t salt,
               const uint32_t* samples, size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(ScoreRows)(key, group, salt, samples, n, out);
}

void PolynomialRow(const float* score, size_t n,
                   const ScorePolynomial& polynomial, float* out) {
  HWY_DYNAMIC_DISPATCH(PolynomialRow)(score, n, polynomial, out);
}

void TableRow(const float* score, size_t n, const float* table, float* out) {
  HWY_DYNAMIC_DISPATCH(TableRow)(score, n, table, out);
}

void AddRow(const float* row, size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(AddRow)(row, n, out);
}

void ScaleRow(const float* shift, const float* spread, size_t n,
              float* deviation) {
  HWY_DYNAMIC_DISPATCH(ScaleRow)(shift, spread, n, deviation);
}

void LoadRows(const float* load, float compute_mean, float network_share,
              size_t n, float* shift, float* spread) {
  HWY_DYNAMIC_DISPATCH(LoadRows)
  (load, compute_mean, network_share, n, shift, spread);
}

void AddPowers(const float* x, size_t n, float origin, float scale,
               double* sums) {
  HWY_DYNAMIC_DISPATCH(AddPowers)(x, n, origin, scale, sums);
}

void AddTermPowers(const float* x, const float* term, size_t n, float origin,
                   float scale, double* sums) {
  HWY_DYNAMIC_DISPATCH(AddTermPowers)(x, term, n, origin, scale, sums);
}

void AddScaledRow(const float* row, float factor, size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(AddScaledRow)(row, factor, n, out);
}

void AdvanceAfter(const float* arrival, float own, float other,
                  const float* deviation, size_t n, float* clock) {
  HWY_DYNAMIC_DISPATCH(AdvanceAfter)(arrival, own, other, deviation, n, clock);
}

void AdvancePolynomialAfter(const float* arrival, float own, float other,
                            const float* score,
                            const ScorePolynomial& polynomial, size_t n,
                            float* clock) {
  HWY_DYNAMIC_DISPATCH(AdvancePolynomialAfter)
  (arrival, own, other, score, polynomial, n, clock);
}

void AdvancePolynomial(const float* score, const ScorePolynomial& polynomial,
                       size_t n, float* clock) {
  HWY_DYNAMIC_DISPATCH(AdvancePolynomial)(score, polynomial, n, clock);
}

void SumPolynomial(const float* row, const float* score,
                   const ScorePolynomial& polynomial, size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(SumPolynomial)(row, score, polynomial, n, out);
}

void SumRow(const float* a, const float* b, size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(SumRow)(a, b, n, out);
}

}  // namespace prism::step
#endif  // HWY_ONCE
