// Step times as messages.
#ifndef PRISM_CORE_QUERY_STEP_TIME_MESSAGE_H_
#define PRISM_CORE_QUERY_STEP_TIME_MESSAGE_H_

#include <array>

#include "core/step/step_time.h"
#include "prism/v1/prediction.pb.h"

namespace prism::query {

// `seconds` are at step::kQuantileLevels.
void SetQuantiles(const std::array<double, 7>& seconds,
                  prism::v1::Quantiles& message);

void SetStepTime(const step::StepTime& time, prism::v1::StepTime& message);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_STEP_TIME_MESSAGE_H_
