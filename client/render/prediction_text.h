// Predictions as text that a person reads.
#ifndef PRISM_CLIENT_RENDER_PREDICTION_TEXT_H_
#define PRISM_CLIENT_RENDER_PREDICTION_TEXT_H_

#include <string>

#include "client/render/terminal.h"
#include "prism/v1/prediction.pb.h"

namespace prism::render {

// The whole answer: quantiles beside the shape of the distribution and, for a
// job, throughput, memory, where the time goes and notes; how it was obtained
// last. Sections without data are left out. Ends with a newline.
std::string PredictionText(const prism::v1::Prediction& prediction,
                           const Terminal& terminal);

// The memory section alone; empty where the prediction has none.
std::string MemoryText(const prism::v1::Memory& memory,
                       const Terminal& terminal);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_PREDICTION_TEXT_H_
