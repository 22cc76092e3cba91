// Answers in this process: the server's core without the server.
#ifndef PRISM_CLIENT_PRISMCTL_LOCAL_ANSWER_H_
#define PRISM_CLIENT_PRISMCTL_LOCAL_ANSWER_H_

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <string>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/query/question.h"
#include "prism/v1/placement_service.pb.h"
#include "prism/v1/prediction.pb.h"

namespace prism::prismctl {

// Where and how long to compute.
struct LocalLimits {
  int threads = 1;  // at least 1
  absl::Duration timeout = absl::InfiniteDuration();
};

// What `compute` returns for a budget and an executor within `limits`.
template <typename Compute>
auto ComputeHere(const LocalLimits& limits, const Compute& compute);

// What a server adds to the provenance of an answer to the question of this
// canonical form: an id, the signature, the time it holds, and that it was
// computed.
prism::v1::Provenance LocalProvenance(const std::string& canonical_form,
                                      prism::v1::Quality quality);

// The prediction for `question`, complete as a server's, computed on `threads`
// (at least 1) within `timeout`. Numbers do not depend on `threads`.
//
// Errors: those of query::Predict.
absl::StatusOr<prism::v1::Prediction> AnswerHere(
    const query::Question& question, int threads, absl::Duration timeout);

// Never cancelled; ends `timeout` after it was made. Thread-safe.
class TimeoutBudget final : public base::Budget {
 public:
  explicit TimeoutBudget(absl::Duration timeout);

  bool Cancelled() const override { return false; }
  absl::Duration Elapsed() const override;
  absl::Duration Remaining() const override { return timeout_ - Elapsed(); }

 private:
  absl::Time start_;
  absl::Duration timeout_;
};

template <typename Compute>
auto ComputeHere(const LocalLimits& limits, const Compute& compute) {
  const TimeoutBudget budget(limits.timeout);
  base::ThreadExecutor executor(limits.threads);
  return compute(budget, executor);
}

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_LOCAL_ANSWER_H_
