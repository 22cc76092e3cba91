// Reads the requests of PredictionService.
#ifndef PRISM_SERVER_PREDICT_REQUEST_H_
#define PRISM_SERVER_PREDICT_REQUEST_H_

#include <absl/status/statusor.h>

#include <functional>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/query/question.h"
#include "prism/v1/prediction.pb.h"
#include "server/question.h"

namespace prism::server {

inline constexpr int kMaxQuestions = 256;

// Answers one question: query::Predict, or a test's stand-in. Thread-safe.
using Predictor = std::function<absl::StatusOr<prism::v1::Prediction>(
    const query::Question&, const base::Budget&, base::Executor&)>;

// Of PredictRequest.
ReadRequest PredictReader(const Predictor& predictor);
// Of PredictStreamRequest.
ReadRequest PredictStreamReader(const Predictor& predictor);

}  // namespace prism::server

#endif  // PRISM_SERVER_PREDICT_REQUEST_H_
