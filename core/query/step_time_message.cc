#include "core/query/step_time_message.h"

namespace prism::query {

void SetQuantiles(const std::array<double, 7>& seconds,
                  prism::v1::Quantiles& message) {
  message.set_p01(seconds[0]);
  message.set_p05(seconds[1]);
  message.set_p25(seconds[2]);
  message.set_p50(seconds[3]);
  message.set_p75(seconds[4]);
  message.set_p95(seconds[5]);
  message.set_p99(seconds[6]);
}

void SetStepTime(const step::StepTime& time, prism::v1::StepTime& message) {
  message.set_mean_seconds(time.mean_seconds);
  message.set_standard_deviation_seconds(time.standard_deviation_seconds);
  SetQuantiles(time.quantile_seconds, *message.mutable_quantiles());
}

}  // namespace prism::query
