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

// Product of the low halves of each word.
W MultiplyHalves(W a, W b) {
  const HalfWordTag halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
}

// The top 52 bits of `words` as a double in (0, 1), never 0 or 1.
V ToUnit(W words) {
  const DoubleTag d;
  const WordTag w;
  const W bits =
      hn::Or(hn::ShiftRight<12>(words), hn::Set(w, 0x3FF0000000000000ull));
  return hn::Sub(hn::BitCast(d, bits), hn::Set(d, 1.0 - 0x1p-53));
}

void UniformRows(const RowStream& stream, size_t n, double* first,
                 double* second) {
  const DoubleTag d;
  const WordTag w;
  const W low = hn::Set(w, 0xFFFFFFFFull);
  const W m0 = hn::Set(w, kMultiplier0);
  const W m1 = hn::Set(w, kMultiplier1);
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    // Counter words, one 32-bit word in the low half of each 64-bit lane; the
    // high halves hold rubbish that no step reads.
    W x0 = hn::Set(w, uint64_t{stream.slot});
    W x1 = hn::Set(w, uint64_t{stream.operation});
    W x2 = hn::LoadU(w, stream.replica + i);
    W x3 = hn::LoadU(w, stream.sample + i);
    uint32_t k0 = static_cast<uint32_t>(stream.key);
    uint32_t k1 = static_cast<uint32_t>(stream.key >> 32);
    for (int round = 0; round < 10; ++round) {
      const W p0 = MultiplyHalves(x0, m0);
      const W p1 = MultiplyHalves(x2, m1);
      x0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), x1),
                   hn::Set(w, uint64_t{k0}));
      x2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), x3),
                   hn::Set(w, uint64_t{k1}));
      x1 = p1;
      x3 = p0;
      k0 += kWeyl0;
      k1 += kWeyl1;
    }
    const W a = hn::Or(hn::ShiftLeft<32>(x0), hn::And(x1, low));
    const W b = hn::Or(hn::ShiftLeft<32>(x2), hn::And(x3, low));
    hn::StoreU(ToUnit(a), d, first + i);
    hn::StoreU(ToUnit(b), d, second + i);
  }
}

template <size_t kTerms>
V Polynomial(V x, const double (&c)[kTerms]) {
  const DoubleTag d;
  V sum = hn::Set(d, c[0]);
  for (size_t i = 1; i < kTerms; ++i) {
    sum = hn::MulAdd(sum, x, hn::Set(d, c[i]));
  }
  return sum;
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

V Score(V u) {
  const DoubleTag d;
  const V r = hn::Sub(u, hn::Set(d, 0.5));
  const V product = hn::Mul(u, hn::Sub(hn::Set(d, 1.0), u));
  // Rounding can lift 4 u (1 - u) a hair above 1.
  const V w = hn::Max(hn::Neg(hn::Log(d, hn::Mul(hn::Set(d, 4.0), product))),
                      hn::Zero(d));
  const V middle = hn::Mul(r, Polynomial(hn::Sub(w, hn::Set(d, 3.0)), kMiddle));
  const V tail = Polynomial(hn::Sub(hn::Sqrt(w), hn::Set(d, 4.3)), kTail);
  return hn::IfThenElse(hn::Lt(w, hn::Set(d, 6.0)), middle,
                        hn::CopySign(tail, r));
}

void NormalScores(const double* uniform, size_t n, double* out) {
  const DoubleTag d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(Score(hn::LoadU(d, uniform + i)), d, out + i);
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
