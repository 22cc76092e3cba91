#include "core/step/composition/pipeline_kernels.h"

#include <utility>

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
using Wide = hn::Vec<WideTag>;

constexpr uint32_t kMultiplier0 = 0xD2511F53;
constexpr uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 7;

// One state of Philox for every other lane: four 32-bit words in the low halves
// of wide lanes. The high halves hold rubbish that no step reads.
struct Counter {
  Wide x0, x1, x2, x3;
};

HWY_INLINE Wide MultiplyHalves(Wide a, W multiplier) {
  return hn::MulEven(hn::BitCast(WordTag(), a), multiplier);
}

HWY_INLINE void Round(W m0, W m1, Wide k0, Wide k1, Counter& c) {
  const Wide p0 = MultiplyHalves(c.x0, m0);
  const Wide p1 = MultiplyHalves(c.x2, m1);
  c.x0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c.x1), k0);
  c.x2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c.x3), k1);
  c.x1 = p1;
  c.x3 = p0;
}

// The words of the even lanes' state and of the odd lanes'.
HWY_INLINE W Interleave(Wide even, Wide odd) {
  const WordTag w;
  return hn::OddEven(hn::BitCast(w, hn::ShiftLeft<32>(odd)),
                     hn::BitCast(w, even));
}

// A polynomial whose coefficients stay in registers: rows are written while it
// is evaluated, and could overlap what a pointer points to.
template <size_t kTerms>
class Polynomial {
 public:
  // Highest power first.
  explicit HWY_INLINE Polynomial(const float* c) {
    for (size_t i = 0; i < kTerms; ++i) c_[i] = hn::Set(FloatTag(), c[i]);
  }

  HWY_INLINE V operator()(V z) const {
    return Horner(z, std::make_index_sequence<kTerms - 1>());
  }

 private:
  template <size_t... kTerm>
  HWY_INLINE V Horner(V z, std::index_sequence<kTerm...>) const {
    V sum = c_[0];
    ((sum = hn::MulAdd(sum, z, c_[kTerm + 1])), ...);
    return sum;
  }

  V c_[kTerms];
};

// The normal score of the sum x of four random bytes, scaled to about
// -1 ... 1, as an odd polynomial in x: a least-squares fit to the quantile of
// the normal at the mid-probability of each sum, scaled to variance 1.
constexpr float kScoreOfSum[] = {6.3918027f,   -9.8765322f, 6.5675223f,
                                 -1.63976596f, 0.66924498f, 3.3254033f};

HWY_INLINE V Score(W word, const Polynomial<6>& score_of_sum) {
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
  return hn::Mul(score_of_sum(square), x);
}

void ScoreRows(uint64_t key, uint32_t group, uint32_t salt,
               const uint32_t* samples, size_t n, float* out) {
  const FloatTag f;
  const WordTag w;
  const WideTag wide;
  const W m0 = hn::Set(w, kMultiplier0);
  const W m1 = hn::Set(w, kMultiplier1);
  const Polynomial<6> score_of_sum(kScoreOfSum);
  Wide k0[kRounds], k1[kRounds];
  for (int r = 0; r < kRounds; ++r) {
    const auto round = static_cast<uint32_t>(r);
    k0[r] = hn::Set(wide, static_cast<uint32_t>(key) + round * kWeyl0);
    k1[r] = hn::Set(wide, static_cast<uint32_t>(key >> 32) + round * kWeyl1);
  }
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    const Wide sample = hn::BitCast(wide, hn::LoadU(w, samples + i));
    Counter even{hn::Set(wide, group), hn::Set(wide, salt), sample,
                 hn::Zero(wide)};
    Counter odd = even;
    odd.x2 = hn::ShiftRight<32>(sample);
    for (int r = 0; r < kRounds; ++r) {
      Round(m0, m1, k0[r], k1[r], even);
      Round(m0, m1, k0[r], k1[r], odd);
    }
    const W words[kScoreRows] = {
        Interleave(even.x0, odd.x0), Interleave(even.x1, odd.x1),
        Interleave(even.x2, odd.x2), Interleave(even.x3, odd.x3)};
    for (size_t row = 0; row < kScoreRows; ++row) {
      const V score = Score(words[row], score_of_sum);
      float* to = out + 2 * n * row + i;
      hn::StoreU(score, f, to);
      hn::StoreU(hn::Neg(score), f, to + n);
    }
  }
}

constexpr size_t kShort = kPolynomialTerms - kShortTerms;

bool IsShort(const ScorePolynomial& c) {
  for (size_t i = 0; i < kShort; ++i) {
    if (c[i] != 0) return false;
  }
  return true;
}

// Calls `row` with the function that evaluates `polynomial`; leading terms that
// are 0 are left out.
template <class Row>
void WithEvaluation(const ScorePolynomial& polynomial, const Row& row) {
  if (IsShort(polynomial)) {
    row(Polynomial<kShortTerms>(&polynomial[kShort]));
  } else {
    row(Polynomial<kPolynomialTerms>(polynomial.data()));
  }
}

void PolynomialRow(const float* score, size_t n,
                   const ScorePolynomial& polynomial, float* out) {
  const FloatTag f;
  WithEvaluation(polynomial, [=](const auto& value) {
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

void ScaleLoadedRow(const float* load, float compute_mean, float network_share,
                    const float* shift, const float* spread, size_t n,
                    float* deviation) {
  const FloatTag f;
  const V mean = hn::Set(f, compute_mean);
  const V share = hn::Set(f, network_share);
  const V one = hn::Set(f, 1.0f);
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    const V by = hn::LoadU(f, load + i);
    // load (C + shift) - C.
    const V longer = hn::MulAdd(by, hn::LoadU(f, shift + i),
                                hn::Mul(hn::Sub(by, one), mean));
    // load s (1 - share) + share, where `spread` is s (1 - share) + share.
    const V own = hn::Sub(hn::LoadU(f, spread + i), share);
    const V wider = hn::MulAdd(by, own, share);
    hn::StoreU(hn::MulAdd(hn::LoadU(f, deviation + i), wider, longer), f,
               deviation + i);
  }
}

void FactorRow(size_t n, float* factor) {
  const FloatTag f;
  for (size_t i = 0; i < n; i += hn::Lanes(f)) {
    hn::StoreU(hn::Max(hn::Zero(f),
                       hn::Add(hn::Set(f, 1.0f), hn::LoadU(f, factor + i))),
               f, factor + i);
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
  WithEvaluation(polynomial, [=](const auto& value) {
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
  WithEvaluation(polynomial, [=](const auto& value) {
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
HWY_EXPORT(ScaleLoadedRow);
HWY_EXPORT(FactorRow);
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

void ScaleLoadedRow(const float* load, float compute_mean, float network_share,
                    const float* shift, const float* spread, size_t n,
                    float* deviation) {
  HWY_DYNAMIC_DISPATCH(ScaleLoadedRow)
  (load, compute_mean, network_share, shift, spread, n, deviation);
}

void FactorRow(size_t n, float* factor) {
  HWY_DYNAMIC_DISPATCH(FactorRow)(n, factor);
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
