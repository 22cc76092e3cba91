#include "core/stats/draw_kernels.h"

// Order matters: foreach_target includes this file once per instruction set.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/stats/draw_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace prism::stats {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most kRowPad lanes, so that whole vectors always fit a row.
using DoubleTag = hn::CappedTag<double, kRowPad>;
using WordTag = hn::Repartition<uint64_t, DoubleTag>;
using HalfWordTag = hn::Repartition<uint32_t, DoubleTag>;
using V = hn::Vec<DoubleTag>;
using W = hn::Vec<WordTag>;

constexpr uint64_t kMultiplier0 = 0xD2511F53;
constexpr uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;
constexpr uint32_t kRounds = 10;

// Product of the low halves of each word.
HWY_INLINE W MultiplyHalves(W a, W b) {
  const HalfWordTag halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
}

// The top 52 bits of `words` as a double in (0, 1), never 0 or 1.
HWY_INLINE V ToUnit(W words) {
  const DoubleTag d;
  const WordTag w;
  const W bits =
      hn::Or(hn::ShiftRight<12>(words), hn::Set(w, 0x3FF0000000000000ull));
  return hn::Sub(hn::BitCast(d, bits), hn::Set(d, 1.0 - 0x1p-53));
}

// One state of Philox: four 32-bit words in the low halves of 64-bit lanes. The
// high halves hold rubbish that no step reads.
struct Counter {
  W x0, x1, x2, x3;
};

HWY_INLINE Counter LoadCounter(const RowStream& stream, size_t i) {
  const WordTag w;
  return {hn::Set(w, uint64_t{stream.slot}),
          hn::Set(w, uint64_t{stream.operation}),
          hn::LoadU(w, stream.replica + i), hn::LoadU(w, stream.sample + i)};
}

HWY_INLINE void Round(W m0, W m1, W k0, W k1, Counter& c) {
  const W p0 = MultiplyHalves(c.x0, m0);
  const W p1 = MultiplyHalves(c.x2, m1);
  c = {hn::Xor(hn::ShiftRight<32>(p1), hn::Xor(c.x1, k0)), p1,
       hn::Xor(hn::ShiftRight<32>(p0), hn::Xor(c.x3, k1)), p0};
}

// The low halves of `high` and `low`, side by side.
HWY_INLINE W Join(W high, W low) {
  const HalfWordTag halves;
  return hn::BitCast(WordTag(),
                     hn::OddEven(hn::BitCast(halves, hn::ShiftLeft<32>(high)),
                                 hn::BitCast(halves, low)));
}

HWY_INLINE void StoreUnits(const Counter& c, double* first, double* second) {
  const DoubleTag d;
  hn::StoreU(ToUnit(Join(c.x0, c.x1)), d, first);
  hn::StoreU(ToUnit(Join(c.x2, c.x3)), d, second);
}

void UniformRows(const RowStream& stream, size_t n, double* first,
                 double* second) {
  const WordTag w;
  const W m0 = hn::Set(w, kMultiplier0);
  const W m1 = hn::Set(w, kMultiplier1);
  uint64_t k0[kRounds], k1[kRounds];
  for (uint32_t round = 0; round < kRounds; ++round) {
    k0[round] = static_cast<uint32_t>(stream.key) + round * kWeyl0;
    k1[round] = static_cast<uint32_t>(stream.key >> 32) + round * kWeyl1;
  }
  const size_t lanes = hn::Lanes(w);
  size_t i = 0;
  // Rounds wait for each other: two states side by side hide that.
  for (; i + 2 * lanes <= RowSize(n); i += 2 * lanes) {
    Counter a = LoadCounter(stream, i);
    Counter b = LoadCounter(stream, i + lanes);
#pragma GCC unroll 10
    for (uint32_t round = 0; round < kRounds; ++round) {
      const W key0 = hn::Set(w, k0[round]), key1 = hn::Set(w, k1[round]);
      Round(m0, m1, key0, key1, a);
      Round(m0, m1, key0, key1, b);
    }
    StoreUnits(a, first + i, second + i);
    StoreUnits(b, first + i + lanes, second + i + lanes);
  }
  for (; i < n; i += lanes) {
    Counter a = LoadCounter(stream, i);
    for (uint32_t round = 0; round < kRounds; ++round) {
      Round(m0, m1, hn::Set(w, k0[round]), hn::Set(w, k1[round]), a);
    }
    StoreUnits(a, first + i, second + i);
  }
}

// Odd and even powers apart: half as many steps wait for each other.
template <size_t kTerms>
HWY_INLINE V Polynomial(V x, const double (&c)[kTerms]) {
  static_assert(kTerms % 2 == 0);
  const DoubleTag d;
  const V square = hn::Mul(x, x);
  V odd = hn::Set(d, c[0]), even = hn::Set(d, c[1]);
  for (size_t i = 2; i < kTerms; i += 2) {
    odd = hn::MulAdd(odd, square, hn::Set(d, c[i]));
    even = hn::MulAdd(even, square, hn::Set(d, c[i + 1]));
  }
  return hn::MulAdd(odd, x, even);
}

// Minimax fits in w = -log(4 u (1 - u)), the form of Giles, "Approximating the
// erfinv function" (GPU Computing Gems, 2011): z = (u - 1/2) C(w) in the
// middle and |z| = T(sqrt(w)) in the tails.
constexpr double kMiddle[] = {
    5.57236629228770757e-11,   1.90782616703366819e-9,  -1.67381214695479537e-8,
    -5.49042716740338951e-8,   1.27829989465406296e-6,  -4.99957560462992668e-6,
    -0.0000359787486374858947, 0.000551832627243686046, -0.00236507068080756603,
    -0.0162299862669980746,    0.683433988243501238,    4.59207026035971846};
constexpr double kTail[] = {6.03766386417423327e-8,    -1.73667503982011716e-7,
                            -2.10458547133563212e-7,   1.38170516608961188e-6,
                            -4.10276530385134615e-6,   0.0000179840863213464839,
                            -0.0000760091869441272989, 0.000274484087896936358,
                            -0.000799378095955872873,  0.00088230083831945027,
                            1.42841969301183615,       5.8586965106631329};

// log(1 + t) / t on [sqrt(1/2) - 1, sqrt(2) - 1].
constexpr double kLogQuotient[] = {-0.07451185990973148, 0.12806610315738395,
                                   -0.1326603139578843,  0.14199650117239643,
                                   -0.16608369412356913, 0.2000093943950985,
                                   -0.25001579099196913, 0.33333345349813037,
                                   -0.49999988496142744, 0.9999999993832559};

// Logarithm of normal numbers within 2e-9: a third of the work of a full one,
// and as much as scores are exact to.
HWY_INLINE V RoughLog(V x) {
  const DoubleTag d;
  const WordTag w;
  constexpr uint64_t kOne = 0x3FF0000000000000;
  constexpr uint64_t kSqrtHalf = 0x3FE6A09E667F3BCD;
  // x = m 2^e with m in [sqrt(1/2), sqrt(2)).
  const W shifted = hn::Add(hn::BitCast(w, x), hn::Set(w, kOne - kSqrtHalf));
  const W fraction = hn::And(shifted, hn::Set(w, (uint64_t{1} << 52) - 1));
  const V m = hn::BitCast(d, hn::Add(fraction, hn::Set(w, kSqrtHalf)));
  // An integer below 2^52 in the low bits of 2^52 is that much above it.
  const V biased = hn::BitCast(
      d, hn::Or(hn::ShiftRight<52>(shifted), hn::Set(w, 0x4330000000000000)));
  const V e = hn::Sub(biased, hn::Set(d, 0x1p52 + 1023));
  const V t = hn::Sub(m, hn::Set(d, 1.0));
  return hn::MulAdd(t, Polynomial(t, kLogQuotient),
                    hn::Mul(e, hn::Set(d, 0.69314718055994530942)));
}

// log(4 u (1 - u)).
HWY_INLINE V LogProduct(V u) {
  const DoubleTag d;
  return RoughLog(
      hn::Mul(hn::Mul(u, hn::Set(d, 4.0)), hn::Sub(hn::Set(d, 1.0), u)));
}

HWY_INLINE V Score(V u, V log) {
  const DoubleTag d;
  const V r = hn::Sub(u, hn::Set(d, 0.5));
  const V middle =
      hn::Mul(r, Polynomial(hn::Sub(hn::Set(d, -3.0), log), kMiddle));
  // One score in 800 lies in a tail.
  const auto in_tail = hn::Le(log, hn::Set(d, -6.0));
  if (HWY_LIKELY(hn::AllFalse(d, in_tail))) return middle;
  const V root = hn::Sqrt(hn::Max(hn::Neg(log), hn::Zero(d)));
  const V tail = Polynomial(hn::Sub(root, hn::Set(d, 4.3)), kTail);
  return hn::IfThenElse(in_tail, hn::CopySign(tail, r), middle);
}

void NormalScores(const double* uniform, size_t n, double* out) {
  const DoubleTag d;
  const size_t lanes = hn::Lanes(d);
  // Two short chains of steps overlap better than a long one.
  constexpr size_t kPart = 16 * kRowPad;
  HWY_ALIGN double logs[kPart];
  for (size_t begin = 0; begin < n; begin += kPart) {
    const size_t size = HWY_MIN(kPart, RowSize(n) - begin);
    const double* u = uniform + begin;
    for (size_t i = 0; i < size; i += lanes) {
      hn::Store(LogProduct(hn::LoadU(d, u + i)), d, logs + i);
    }
    for (size_t i = 0; i < size; i += lanes) {
      hn::StoreU(Score(hn::LoadU(d, u + i), hn::Load(d, logs + i)), d,
                 out + begin + i);
    }
  }
}

void NormalRow(const double* score, size_t n, double mean, double sd,
               double* out) {
  const DoubleTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V x =
        hn::MulAdd(hn::LoadU(d, score + i), hn::Set(d, sd), hn::Set(d, mean));
    hn::StoreU(hn::Max(x, hn::Zero(d)), d, out + i);
  }
}

void LognormalRow(const double* score, size_t n, double mu, double sigma,
                  double* out) {
  const DoubleTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V x =
        hn::MulAdd(hn::LoadU(d, score + i), hn::Set(d, sigma), hn::Set(d, mu));
    hn::StoreU(hn::Exp(d, x), d, out + i);
  }
}

void ShiftedExponentialRow(const double* uniform, size_t n, double shift,
                           double mean_excess, double* out) {
  const DoubleTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V upper = hn::Sub(hn::Set(d, 1.0), hn::LoadU(d, uniform + i));
    hn::StoreU(hn::NegMulAdd(hn::Log(d, upper), hn::Set(d, mean_excess),
                             hn::Set(d, shift)),
               d, out + i);
  }
}

void LogTableRow(const double* score, size_t n, const ScoreTable& table,
                 double* out) {
  const DoubleTag d;
  const hn::Repartition<int64_t, DoubleTag> index_tag;
  const V last = hn::Set(d, static_cast<double>(table.nodes - 1));
  // Adding 2^52 rounds to the nearest integer and leaves it in the low bits.
  const V magic = hn::Set(d, 0x1p52);
  const auto mask = hn::Set(index_tag, (int64_t{1} << 52) - 1);
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V z = hn::LoadU(d, score + i);
    V position = hn::Mul(hn::Sub(z, hn::Set(d, table.first)),
                         hn::Set(d, table.nodes_per_unit));
    position = hn::Min(hn::Max(position, hn::Zero(d)), last);
    const V shifted = hn::Add(position, magic);
    const V t = hn::Sub(position, hn::Sub(shifted, magic));
    const auto node = hn::And(hn::BitCast(index_tag, shifted), mask);
    V sum = hn::GatherIndex(d, table.coefficients, node);
    for (int c = 1; c < ScoreTable::kCoefficients; ++c) {
      sum = hn::MulAdd(
          sum, t,
          hn::GatherIndex(d, table.coefficients + c * table.nodes, node));
    }
    hn::StoreU(hn::Exp(d, sum), d, out + i);
  }
}

void AddScaledRow(const double* draw, const double* factor, size_t n,
                  double* clock) {
  const DoubleTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(hn::MulAdd(hn::LoadU(d, draw + i), hn::LoadU(d, factor + i),
                          hn::LoadU(d, clock + i)),
               d, clock + i);
  }
}

void AddScaledBy(const double* draw, double factor, size_t n, double* clock) {
  const DoubleTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(hn::MulAdd(hn::LoadU(d, draw + i), hn::Set(d, factor),
                          hn::LoadU(d, clock + i)),
               d, clock + i);
  }
}

void MaxOfRows(const double* a, const double* b, size_t n, double* out) {
  const DoubleTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(hn::Max(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
  }
}

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace prism::stats
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace prism::stats {

HWY_EXPORT(UniformRows);
HWY_EXPORT(NormalScores);
HWY_EXPORT(NormalRow);
HWY_EXPORT(LognormalRow);
HWY_EXPORT(ShiftedExponentialRow);
HWY_EXPORT(LogTableRow);
HWY_EXPORT(AddScaledRow);
HWY_EXPORT(AddScaledBy);
HWY_EXPORT(MaxOfRows);
HWY_EXPORT(TargetName);

void UniformRows(const RowStream& stream, size_t n, double* first,
                 double* second) {
  HWY_DYNAMIC_DISPATCH(UniformRows)(stream, n, first, second);
}

void NormalScores(const double* uniform, size_t n, double* out) {
  HWY_DYNAMIC_DISPATCH(NormalScores)(uniform, n, out);
}

void NormalRow(const double* score, size_t n, double mean, double sd,
               double* out) {
  HWY_DYNAMIC_DISPATCH(NormalRow)(score, n, mean, sd, out);
}

void LognormalRow(const double* score, size_t n, double mu, double sigma,
                  double* out) {
  HWY_DYNAMIC_DISPATCH(LognormalRow)(score, n, mu, sigma, out);
}

void ShiftedExponentialRow(const double* uniform, size_t n, double shift,
                           double mean_excess, double* out) {
  HWY_DYNAMIC_DISPATCH(ShiftedExponentialRow)
  (uniform, n, shift, mean_excess, out);
}

void LogTableRow(const double* score, size_t n, const ScoreTable& table,
                 double* out) {
  HWY_DYNAMIC_DISPATCH(LogTableRow)(score, n, table, out);
}

void AddScaled(const double* draw, const double* factor, size_t n,
               double* clock) {
  HWY_DYNAMIC_DISPATCH(AddScaledRow)(draw, factor, n, clock);
}

void AddScaled(const double* draw, double factor, size_t n, double* clock) {
  HWY_DYNAMIC_DISPATCH(AddScaledBy)(draw, factor, n, clock);
}

void AddConstant(double constant, const double* factor, size_t n,
                 double* clock) {
  HWY_DYNAMIC_DISPATCH(AddScaledBy)(factor, constant, n, clock);
}

void MaxRows(const double* a, const double* b, size_t n, double* out) {
  HWY_DYNAMIC_DISPATCH(MaxOfRows)(a, b, n, out);
}

const char* ActiveInstructionSet() {
  return HWY_DYNAMIC_DISPATCH(TargetName)();
}

}  // namespace prism::stats
#endif  // HWY_ONCE
