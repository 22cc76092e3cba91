#include "core/hardware/operator_speeds.h"

#include <cmath>
#include <string_view>

namespace prism::hardware {
namespace {

constexpr std::string_view kMeasuredAmpere = "a100-80gb-sxm";
constexpr std::string_view kMeasuredHopper = "h100-80gb-sxm";

// What of the speed of a kernel by itself is left in training, where clocks
// give way to the power limit: fitted by tests/accuracy/fit_steps to whole
// steps (llm-foundry; MLPerf; SimuMax). H200 and B200 take the values of H100
// and GB200 in MLPerf's runs.
constexpr double kAmpereBf16 = 0.855;
constexpr double kHopperBf16 = 0.790;
constexpr double kHopperFp8 = 0.732;
constexpr double kBlackwellBf16 = 0.533;
constexpr double kBlackwellFp8 = 0.660;
constexpr double kBlackwellFp4 = 0.645;

// Of llm-foundry's runs, in the same fit.
constexpr AttentionSpeeds kAmpereTriton = {0.575, 0.272};
constexpr AttentionSpeeds kHopperTriton = {0.270, 0.145};

// Products of 8192 x 8192 x 8192 and alike in SemiAnalysis, "MI300X vs H100 vs
// H200", December 2024: MI300X 620 TFLOP/s in bf16 and 990 in fp8, H100 720 in
// bf16.
constexpr double kCdna3Bf16 = 620 / 1307.4 / (720 / 989.5) * kHopperBf16;
constexpr double kCdna3Fp8 = 990 / 2614.9 / (720 / 989.5) * kHopperBf16;

// Efficiencies by format: 32 bit, 16 bit, then narrower.
std::array<double, kNumberFormats> Products(double wide, double half,
                                            double narrow) {
  return {wide, wide, half, half, narrow, narrow};
}

double& Product(NumberFormat format, ArchitectureSpeeds& speeds) {
  return speeds.product[static_cast<size_t>(format)];
}

// Where nobody measured kernels in Triton they are as far below
// FlashAttention-2 as on Ampere.
ArchitectureSpeeds Speeds(std::array<double, kNumberFormats> product,
                          AttentionSpeeds vendor, AttentionSpeeds flash2) {
  return {.product = product,
          .vendor_attention = vendor,
          .flash_attention2 = flash2,
          .triton_attention = {0.78 * flash2.forward, 0.43 * flash2.backward}};
}

// What the table of another accelerator leaves open.
double ModelDeviation(const Accelerator& accelerator) {
  switch (accelerator.architecture) {
    case Architecture::kAmpere:
      return accelerator.name == kMeasuredAmpere ? 0.05 : 0.08;
    case Architecture::kHopper:
      return accelerator.name == kMeasuredHopper ? 0.05 : 0.08;
    case Architecture::kVolta:
    case Architecture::kBlackwell:
      return 0.12;
    case Architecture::kAda:
      return 0.15;
    default:
      return 0.25;
  }
}

double FormatDeviation(NumberFormat format) {
  switch (format) {
    case NumberFormat::kFp16:
    case NumberFormat::kBf16:
      return 0;
    case NumberFormat::kFp4:
      return 0.15;
    default:
      return 0.08;
  }
}

std::string_view MeasuredFor(Architecture architecture) {
  switch (architecture) {
    case Architecture::kVolta:
    case Architecture::kAmpere:
    case Architecture::kAda:
      return kMeasuredAmpere;
    default:
      return kMeasuredHopper;
  }
}

}  // namespace

std::array<ArchitectureSpeeds, kArchitectures> DefaultArchitectureSpeeds() {
  std::array<ArchitectureSpeeds, kArchitectures> all;
  const auto at = [&all](Architecture a) -> ArchitectureSpeeds& {
    return all[static_cast<size_t>(a)];
  };
  const auto plain = Products(1, 1, 1);
  // FlashAttention (arXiv:2205.14135) knew Volta; its share of A100 is taken.
  at(Architecture::kVolta) = Speeds(plain, {0.40, 0.30}, {0.40, 0.30});
  // FlashAttention-2 (arXiv:2307.08691) on A100: up to 73% and 63%.
  at(Architecture::kAmpere) = Speeds(plain, {0.73, 0.63}, {0.73, 0.63});
  Product(NumberFormat::kBf16, at(Architecture::kAmpere)) = kAmpereBf16;
  at(Architecture::kAmpere).triton_attention = kAmpereTriton;
  at(Architecture::kAda) = Speeds(plain, {0.73, 0.63}, {0.73, 0.63});
  // FlashAttention-3 (arXiv:2407.08608), figures 5 and 6: cuDNN and
  // FlashAttention-2 on H100, heads of 128.
  const auto hopper = Products(1, kHopperBf16, kHopperFp8);
  at(Architecture::kHopper) = Speeds(hopper, {0.585, 0.535}, {0.365, 0.335});
  at(Architecture::kHopper).triton_attention = kHopperTriton;
  at(Architecture::kHopper).watts = 700;
  // Forward: FlashAttention's own benchmark of its kernels for B200
  // (1276 TFLOP/s at 8192, 1065 at 2048). Backward: fitted with the products.
  // FlashAttention-2: assumed from Hopper's ratios.
  const auto blackwell = Products(1, kBlackwellBf16, kBlackwellFp8);
  at(Architecture::kBlackwell) = Speeds(blackwell, {0.58, 0.36}, {0.18, 0.15});
  Product(NumberFormat::kFp4, at(Architecture::kBlackwell)) = kBlackwellFp4;
  // Assumed, in proportion to products.
  const auto cdna = Products(kCdna3Bf16, kCdna3Bf16, kCdna3Fp8);
  at(Architecture::kCdna2) = Speeds(cdna, {0.35, 0.25}, {0.35, 0.25});
  at(Architecture::kCdna3) = Speeds(cdna, {0.38, 0.28}, {0.38, 0.28});
  at(Architecture::kTpu) = Speeds(plain, {0.50, 0.40}, {0.50, 0.40});
  at(Architecture::kGaudi) = Speeds(plain, {0.50, 0.40}, {0.50, 0.40});
  at(Architecture::kTrainium) = Speeds(plain, {0.40, 0.30}, {0.40, 0.30});
  return all;
}

OperatorUncertainty UncertaintyOf(const Accelerator& accelerator,
                                  NumberFormat format) {
  const NumberFormat computed = PeakOf(accelerator, format).format;
  const double by_format = FormatDeviation(computed);
  const std::string source(MeasuredFor(accelerator.architecture));
  const bool itself = accelerator.name == source;
  std::string reason = itself ? "products measured on it in bf16"
                              : "derived from bf16 products of " + source +
                                    " by the ratios of data sheets";
  if (by_format > 0) {
    reason += "; " + std::string(NumberFormatName(computed)) +
              " by the ratio of peaks";
  }
  return {
      .relative_deviation = std::hypot(ModelDeviation(accelerator), by_format),
      .measured = itself && by_format == 0,
      .reason = reason};
}

}  // namespace prism::hardware
