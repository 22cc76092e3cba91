// The distribution of a step's duration as text that a person reads.
#ifndef PRISM_CLIENT_RENDER_STEP_TIME_TEXT_H_
#define PRISM_CLIENT_RENDER_STEP_TIME_TEXT_H_

#include <string>

#include "client/render/terminal.h"
#include "prism/v1/prediction.pb.h"

namespace prism::render {

// The quantiles, with standard errors where there are any, beside a histogram
// of the middle 98% of the steps; mean, spread and the step without
// variability below.
std::string StepTimeText(const prism::v1::Prediction& prediction,
                         const Terminal& terminal);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_STEP_TIME_TEXT_H_
