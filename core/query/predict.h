// Answers a prediction question.
#ifndef PRISM_CORE_QUERY_PREDICT_H_
#define PRISM_CORE_QUERY_PREDICT_H_

#include <absl/status/statusor.h>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/query/question.h"
#include "prism/v1/prediction.pb.h"

namespace prism::query {

// The prediction for `question`: everything except prediction_id, signature,
// cache and valid_until, which belong to whoever answers (WithProvenance).
//
// Errors: those of step::Simulate; INTERNAL where a result is not finite or
// lies below its physical floor, never a wrong answer.
absl::StatusOr<prism::v1::Prediction> Predict(const Question& question,
                                              const base::Budget& budget,
                                              base::Executor& executor);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_PREDICT_H_
