#include "client/prediction_client.h"

#include <absl/strings/str_cat.h>

#include <random>
#include <utility>
#include <variant>

namespace prism::client {

using prism::v1::Prediction;
using prism::v1::PredictRequest;
using prism::v1::PredictResponse;
using prism::v1::Question;

namespace {

// Uses the system's source, which may be asked from any thread.
double RandomJitter() {
  std::random_device source;
  return std::uniform_real_distribution<double>(0, 1)(source);
}

absl::Status WrongCount(int answers, int questions) {
  return absl::InternalError(absl::StrCat(
      "the server gave ", answers, " answers to ", questions, " questions"));
}

}  // namespace

std::unique_ptr<PredictionClient> PredictionClient::Connect(
    const std::string& address, RetryOptions options) {
  return std::make_unique<PredictionClient>(MakeGrpcTransport(address),
                                            std::make_unique<SystemClock>(),
                                            options, RandomJitter);
}

PredictionClient::PredictionClient(std::unique_ptr<Transport> transport,
                                   std::unique_ptr<Clock> clock,
                                   RetryOptions options,
                                   std::function<double()> jitter)
    : transport_(std::move(transport)),
      clock_(std::move(clock)),
      retry_policy_(options),
      jitter_(std::move(jitter)) {}

absl::StatusOr<Prediction> PredictionClient::Predict(const Question& question,
                                                     absl::Duration timeout) {
  auto predictions = Predict(std::vector<Question>{question}, timeout);
  if (!predictions.ok()) return predictions.status();
  return std::move(predictions->front());
}

absl::StatusOr<std::vector<Prediction>> PredictionClient::Predict(
    const std::vector<Question>& questions, absl::Duration timeout) {
  PredictRequest request;
  for (const Question& question : questions) {
    *request.add_questions() = question;
  }
  auto response = Call(request, timeout);
  if (!response.ok()) return response.status();
  if (response->predictions_size() != request.questions_size()) {
    return WrongCount(response->predictions_size(), request.questions_size());
  }
  return std::vector<Prediction>(response->predictions().begin(),
                                 response->predictions().end());
}

absl::StatusOr<PredictResponse> PredictionClient::Call(
    const PredictRequest& request, absl::Duration timeout) {
  const absl::Time deadline = clock_->Now() + timeout;
  for (int attempts = 1;; ++attempts) {
    auto outcome = transport_->Predict(request, deadline - clock_->Now());
    if (auto* response = std::get_if<PredictResponse>(&outcome)) {
      return std::move(*response);
    }
    const Failure& failure = std::get<Failure>(outcome);
    const auto delay = retry_policy_.Delay(failure, attempts,
                                           deadline - clock_->Now(), jitter_());
    if (!delay.has_value()) return failure.status;
    clock_->Sleep(*delay);
  }
}

}  // namespace prism::client
