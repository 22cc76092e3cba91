#include "client/prismctl/local_answer.h"

#include <absl/strings/str_format.h>
#include <absl/time/clock.h>

#include <cstdint>
#include <random>
#include <string>

#include "core/query/predict.h"

namespace prism::prismctl {
namespace {

using prism::v1::Prediction;
using prism::v1::Provenance;

// As of a server: an answer that is as good as was asked for holds for a day,
// another should be asked again.
constexpr absl::Duration kValidity = absl::Hours(24);

std::string RandomId() {
  std::random_device source;
  const auto word = [&] { return uint64_t{source()} << 32 | source(); };
  return absl::StrFormat("%016x%016x", word(), word());
}

}  // namespace

TimeoutBudget::TimeoutBudget(absl::Duration timeout)
    : start_(absl::Now()), timeout_(timeout) {}

absl::Duration TimeoutBudget::Elapsed() const { return absl::Now() - start_; }

Provenance LocalProvenance(const std::string& canonical_form,
                           prism::v1::Quality quality) {
  Provenance provenance;
  provenance.set_prediction_id(RandomId());
  provenance.set_signature(query::Signature(canonical_form));
  provenance.set_cache(prism::v1::CACHE_STATUS_MISS);
  const bool exact = quality == prism::v1::QUALITY_EXACT;
  provenance.mutable_valid_until()->set_seconds(absl::ToUnixSeconds(
      absl::Now() + (exact ? kValidity : absl::ZeroDuration())));
  return provenance;
}

absl::StatusOr<Prediction> AnswerHere(const query::Question& question,
                                      int threads, absl::Duration timeout) {
  auto prediction =
      ComputeHere({threads, timeout},
                  [&](const base::Budget& budget, base::Executor& executor) {
                    return query::Predict(question, budget, executor);
                  });
  if (!prediction.ok()) return prediction;
  const Provenance provenance =
      LocalProvenance(query::CanonicalForm(question), prediction->quality());
  prediction->set_prediction_id(provenance.prediction_id());
  prediction->set_signature(provenance.signature());
  prediction->set_cache(provenance.cache());
  *prediction->mutable_valid_until() = provenance.valid_until();
  return prediction;
}

}  // namespace prism::prismctl
