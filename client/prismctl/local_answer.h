// Answers in this process: the server's core without the server.
#ifndef PRISM_CLIENT_PRISMCTL_LOCAL_ANSWER_H_
#define PRISM_CLIENT_PRISMCTL_LOCAL_ANSWER_H_

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include "core/query/question.h"
#include "prism/v1/prediction.pb.h"

namespace prism::prismctl {

// The prediction for `question`, complete as a server's, computed on `threads`
// (at least 1) within `timeout`. Numbers do not depend on `threads`.
//
// Errors: those of query::Predict.
absl::StatusOr<prism::v1::Prediction> AnswerHere(
    const query::Question& question, int threads, absl::Duration timeout);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_LOCAL_ANSWER_H_
