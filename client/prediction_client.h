// PredictionClient: asks a PRISM server how long a training step takes.
//
//   auto client = prism::client::PredictionClient::Connect("prism:7450");
//   prism::v1::Question question = ...;
//   auto prediction = client->Predict(question, absl::Seconds(5));
//   if (!prediction.ok()) {
//     for (const auto& violation :
//          prism::client::ViolationsOf(prediction.status()).list()) ...
//   }
//
// Thread-safe: one client serves all threads of a program.
#ifndef PRISM_CLIENT_PREDICTION_CLIENT_H_
#define PRISM_CLIENT_PREDICTION_CLIENT_H_

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/connection.h"
#include "client/retry_policy.h"
#include "prism/v1/prediction.pb.h"
#include "prism/v1/prediction_service.pb.h"

namespace prism::client {

class PredictionClient {
 public:
  // A client for the server at `address` (see MakeGrpcTransport). Does not
  // wait for the server: whether it is there shows when it is asked.
  static std::unique_ptr<PredictionClient> Connect(const std::string& address,
                                                   RetryOptions options = {});

  explicit PredictionClient(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)) {}

  // The answer to `question`, within `timeout` (above 0), retries included.
  //
  // Errors: those of PredictionService.Predict; ViolationsOf tells what is
  // wrong with a question (field paths begin with "questions[0]."). INTERNAL
  // where the server broke its promise of one answer a question.
  absl::StatusOr<prism::v1::Prediction> Predict(
      const prism::v1::Question& question, absl::Duration timeout);

  // The same for 1 to 256 questions in one call, answers in their order. The
  // call fails as a whole.
  absl::StatusOr<std::vector<prism::v1::Prediction>> Predict(
      const std::vector<prism::v1::Question>& questions,
      absl::Duration timeout);

 private:
  const std::unique_ptr<Connection> connection_;
};

}  // namespace prism::client

#endif  // PRISM_CLIENT_PREDICTION_CLIENT_H_
