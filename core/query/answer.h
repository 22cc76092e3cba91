// Answers as JSON documents: the command line's contract with other tools.
#ifndef PRISM_CORE_QUERY_ANSWER_H_
#define PRISM_CORE_QUERY_ANSWER_H_

#include <string>

#include "prism/v1/prediction.pb.h"

namespace prism::query {

// `prediction` as a JSON object with the keys that `prismctl predict --format
// json` promises: feasible, step_time, nominal_step_seconds, signature, cache,
// method, quality, samples, and for jobs tokens_per_second,
// model_flops_utilization, tflops_per_gpu, memory, breakdown. Numbers are
// written so that they read back to the same bits.
std::string PredictionJson(const prism::v1::Prediction& prediction);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_ANSWER_H_
