#include "client/prediction_client.h"

#include <absl/strings/str_cat.h>

#include <utility>

namespace prism::client {

using prism::v1::Prediction;
using prism::v1::PredictRequest;
using prism::v1::PredictResponse;
using prism::v1::Question;

namespace {

constexpr char kPredict[] = "/prism.v1.PredictionService/Predict";

absl::Status WrongCount(int answers, int questions) {
  return absl::InternalError(absl::StrCat(
      "the server gave ", answers, " answers to ", questions, " questions"));
}

}  // namespace

std::unique_ptr<PredictionClient> PredictionClient::Connect(
    const std::string& address, RetryOptions options) {
  return std::make_unique<PredictionClient>(Connection::To(address, options));
}

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
  auto response =
      connection_->Call<PredictResponse>(kPredict, request, timeout);
  if (!response.ok()) return response.status();
  if (response->predictions_size() != request.questions_size()) {
    return WrongCount(response->predictions_size(), request.questions_size());
  }
  return std::vector<Prediction>(response->predictions().begin(),
                                 response->predictions().end());
}

}  // namespace prism::client
