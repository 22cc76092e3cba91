#include "core/hardware/operator_time.h"

#include <algorithm>
#include <cmath>

namespace prism::hardware {
namespace {

// Heads of this size and above are equally fast.
constexpr double kFullHead = 128;

// Rows of this length reach ArchitectureSpeeds::row_efficiency.
constexpr double kFullRow = 2048;

// Products in 8 and 4 bit are summed in 32 and written in 16.
double ResultBytes(NumberFormat format) {
  return std::max(2.0, BytesOf(format));
}

const AttentionSpeeds& AttentionOf(const ArchitectureSpeeds& speeds,
                                   AttentionLibrary library) {
  switch (library) {
    case AttentionLibrary::kVendor:
      return speeds.vendor_attention;
    case AttentionLibrary::kFlashAttention2:
      return speeds.flash_attention2;
    case AttentionLibrary::kTriton:
      return speeds.triton_attention;
  }
  return speeds.vendor_attention;
}

// Share of their speed that products keep under the accelerator's power limit.
double PowerShare(const Accelerator& accelerator,
                  const OperatorSpeeds& speeds) {
  const double watts = speeds.of(accelerator.architecture).watts;
  if (watts == 0 || accelerator.maximum_watts == 0) return 1;
  return std::pow(std::min(1.0, accelerator.maximum_watts / watts),
                  speeds.power_exponent);
}

}  // namespace

double BytesOf(NumberFormat format) {
  switch (format) {
    case NumberFormat::kFp32:
    case NumberFormat::kTf32:
      return 4;
    case NumberFormat::kFp16:
    case NumberFormat::kBf16:
      return 2;
    case NumberFormat::kFp8:
      return 1;
    case NumberFormat::kFp4:
      return 0.5;
  }
  return 4;
}

OperatorModel::OperatorModel(const Accelerator& accelerator,
                             const OperatorSpeeds& speeds,
                             AttentionLibrary library)
    : accelerator_(accelerator),
      speeds_(speeds),
      attention_(AttentionOf(speeds.of(accelerator.architecture), library)),
      power_share_(PowerShare(accelerator, speeds)),
      table_(ProductTable::Of(accelerator.architecture)) {
  for (int i = 0; i < kNumberFormats; ++i) {
    formats_[static_cast<size_t>(i)] = FormatOf(static_cast<NumberFormat>(i));
  }
}

OperatorModel::Format OperatorModel::FormatOf(NumberFormat format) const {
  const Peak peak = PeakOf(accelerator_, format);
  const Peak half = PeakOf(accelerator_, NumberFormat::kBf16);
  const ArchitectureSpeeds& speeds = speeds_.of(accelerator_.architecture);
  return {.rates = {.flops_per_second = peak.flops_per_second,
                    .start_flops_per_second =
                        std::min(peak.flops_per_second, half.flops_per_second),
                    .bytes_per_second = accelerator_.memory_bytes_per_second,
                    .processors = static_cast<double>(accelerator_.processors),
                    .operand_bytes = BytesOf(peak.format),
                    .result_bytes = ResultBytes(peak.format)},
          .efficiency =
              power_share_ * speeds.product[static_cast<size_t>(peak.format)]};
}

double OperatorModel::MatrixProductSeconds(const MatrixProduct& product,
                                           NumberFormat format) const {
  const Format& own = formats_[static_cast<size_t>(format)];
  const double seconds = table_.Seconds(own.rates, product) / own.efficiency;
  const double bytes =
      product.batch * ((product.m * product.k + product.k * product.n) *
                           own.rates.operand_bytes +
                       product.m * product.n * own.rates.result_bytes);
  return std::max({seconds, product.flops() / own.rates.flops_per_second,
                   bytes / own.rates.bytes_per_second});
}

double OperatorModel::MemorySeconds(double bytes, double kernels) const {
  const double efficiency =
      speeds_.of(accelerator_.architecture).memory_efficiency;
  return kernels * speeds_.launch_seconds +
         bytes / (accelerator_.memory_bytes_per_second * efficiency);
}

double OperatorModel::RowSeconds(double bytes, double kernels,
                                 double row) const {
  const ArchitectureSpeeds& speeds = speeds_.of(accelerator_.architecture);
  const double efficiency =
      std::min(speeds.memory_efficiency,
               speeds.row_efficiency * std::sqrt(kFullRow / row));
  return kernels * speeds_.launch_seconds +
         bytes / (accelerator_.memory_bytes_per_second * efficiency);
}

double OperatorModel::AttentionSeconds(const AttentionKernel& kernel,
                                       NumberFormat format) const {
  const double peak =
      formats_[static_cast<size_t>(format)].rates.flops_per_second;
  const double most =
      kernel.backward ? attention_.backward : attention_.forward;
  const double power = kernel.backward ? speeds_.attention_backward_head_power
                                       : speeds_.attention_forward_head_power;
  const double ramp = (kernel.backward ? speeds_.attention_backward_ramp
                                       : speeds_.attention_forward_ramp) +
                      (kernel.causal ? speeds_.attention_causal_ramp : 0);
  const double head =
      std::pow(std::min(1.0, kernel.head_size / kFullHead), power);
  const double efficiency = most * head / (1 + ramp / kernel.sequence);
  return kernel.kernels * speeds_.launch_seconds +
         kernel.flops / (peak * efficiency);
}

double OperatorModel::FloorSeconds(double flops, double bytes,
                                   NumberFormat format) const {
  return std::max(
      flops / formats_[static_cast<size_t>(format)].rates.flops_per_second,
      bytes / accelerator_.memory_bytes_per_second);
}

}  // namespace prism::hardware
