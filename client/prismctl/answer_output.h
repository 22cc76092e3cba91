// Where answers and failures go, and the exit codes they end with.
#ifndef PRISM_CLIENT_PRISMCTL_ANSWER_OUTPUT_H_
#define PRISM_CLIENT_PRISMCTL_ANSWER_OUTPUT_H_

#include <absl/status/status.h>

#include "client/prismctl/input_problems.h"
#include "client/prismctl/session.h"
#include "prism/v1/prediction.pb.h"

namespace prism::prismctl {

// Writes an answer in the session's format. One that is not feasible says why
// on standard error and ends with kInfeasible; its numbers go to standard
// output as JSON only, for tools.
ExitCode WritePrediction(const prism::v1::Prediction& prediction,
                         Session& session);

// Requires: !problems.empty().
ExitCode WriteProblems(const InputProblems& problems, Session& session);

// Says why there is no answer. What the server or the core finds wrong with
// the question is reported as of `files`.
ExitCode WriteFailure(const absl::Status& status, const QuestionFiles& files,
                      Session& session);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_ANSWER_OUTPUT_H_
