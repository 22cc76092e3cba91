#include "client/prismctl/local_answer.h"

#include <absl/strings/str_format.h>
#include <absl/time/clock.h>

#include <cstdint>
#include <random>
#include <string>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/query/predict.h"

namespace prism::prismctl {
namespace {

using prism::v1::Prediction;

// As of a server: an answer that is as good as was asked for holds for a day,
// another should be asked again.
constexpr absl::Duration kValidity = absl::Hours(24);

class TimeoutBudget final : public base::Budget {
 public:
  explicit TimeoutBudget(absl::Duration timeout)
      : start_(absl::Now()), timeout_(timeout) {}

  bool Cancelled() const override { return false; }
  absl::Duration Elapsed() const override { return absl::Now() - start_; }
  absl::Duration Remaining() const override { return timeout_ - Elapsed(); }

 private:
  absl::Time start_;
  absl::Duration timeout_;
};

std::string RandomId() {
  std::random_device source;
  const auto word = [&] { return uint64_t{source()} << 32 | source(); };
  return absl::StrFormat("%016x%016x", word(), word());
}

void AddProvenance(const query::Question& question, Prediction* prediction) {
  prediction->set_prediction_id(RandomId());
  prediction->set_signature(query::Signature(query::CanonicalForm(question)));
  prediction->set_cache(prism::v1::CACHE_STATUS_MISS);
  const bool exact = prediction->quality() == prism::v1::QUALITY_EXACT;
  prediction->mutable_valid_until()->set_seconds(absl::ToUnixSeconds(
      absl::Now() + (exact ? kValidity : absl::ZeroDuration())));
}

}  // namespace

absl::StatusOr<Prediction> AnswerHere(const query::Question& question,
                                      int threads, absl::Duration timeout) {
  const TimeoutBudget budget(timeout);
  base::ThreadExecutor executor(threads);
  auto prediction = query::Predict(question, budget, executor);
  if (prediction.ok()) AddProvenance(question, &*prediction);
  return prediction;
}

}  // namespace prism::prismctl
