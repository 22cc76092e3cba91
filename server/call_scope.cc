#include "server/call_scope.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <random>

#include "server/rpc_status.h"

namespace prism::server {

IdSource::IdSource() {
  std::random_device random;
  const uint64_t high = random();
  prefix_ = absl::StrFormat("%016x-", high << 32 | random());
}

std::string IdSource::Next() {
  return absl::StrCat(prefix_, absl::Hex(next_.fetch_add(1)));
}

CallScope::CallScope(CallTools& tools, MethodMetrics& method)
    : tools_(tools), method_(method), start_(tools.clock()) {
  method_.Started();
  tools_.metrics.requests_in_flight.Increment();
}

void CallScope::End(absl::StatusCode code) {
  tools_.metrics.requests_in_flight.Decrement();
  method_.Handled(code, absl::ToDoubleSeconds(tools_.clock() - start_));
}

prism::v1::PredictResponse RequestScope::Succeed(
    const std::vector<Reply>& replies) {
  prism::v1::PredictResponse response;
  for (const Reply& reply : replies) {
    auto& prediction = *response.add_predictions();
    prediction = reply.answer->prediction;
    prediction.set_prediction_id(tools_->ids.Next());
    prediction.set_cache(reply.cache);
    tools_->metrics.CountPrediction(prediction.quality());
  }
  const auto& first = response.predictions(0);
  const absl::Time end = tools_->clock();
  tools_->log.Write({.method = method_,
                     .prediction_id = first.prediction_id(),
                     .signature = first.signature(),
                     .cache = first.cache(),
                     .quality = first.quality(),
                     .questions = static_cast<int64_t>(replies.size()),
                     .latency_seconds = absl::ToDoubleSeconds(end - start_),
                     .end = end,
                     .status = absl::OkStatus()});
  return response;
}

absl::Status RequestScope::Fail(const absl::Status& status) {
  const std::string id = tools_->ids.Next();
  RequestRecord record;
  record.method = method_;
  record.prediction_id = id;
  record.end = tools_->clock();
  record.latency_seconds = absl::ToDoubleSeconds(record.end - start_);
  record.status = status;
  tools_->log.Write(record);
  return PublicStatus(status, id);
}

}  // namespace prism::server
