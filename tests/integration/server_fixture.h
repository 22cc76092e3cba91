// A server in the test's process, with a predictor that the test controls.
#ifndef PRISM_TESTS_INTEGRATION_SERVER_FIXTURE_H_
#define PRISM_TESTS_INTEGRATION_SERVER_FIXTURE_H_

#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "prism/v1/prediction_service.grpc.pb.h"
#include "server/config.h"
#include "server/json_log.h"
#include "server/server.h"

namespace prism::testing {

// A step profile question; those with different `seconds` are different.
prism::v1::Question ProfileQuestion(double seconds = 1);

prism::v1::PredictRequest RequestOf(const prism::v1::Question& question);

// The whole answer, headers included, to GET `path`; empty if none came.
std::string HttpGet(const std::string& address, const std::string& path);

// The value of a series ("name{label=\"x\"}") in an exposition; -1: not there.
double SeriesValue(const std::string& exposition, const std::string& series);

// The detail of type Message in the status details, if there is one.
template <typename Message>
std::optional<Message> DetailOf(const google::rpc::Status& status) {
  Message message;
  for (const auto& any : status.details()) {
    if (any.Is<Message>() && any.UnpackTo(&message)) return message;
  }
  return std::nullopt;
}

template <typename Message>
std::optional<Message> DetailOf(const grpc::Status& status) {
  google::rpc::Status rpc;
  if (!rpc.ParseFromString(status.error_details())) return std::nullopt;
  return DetailOf<Message>(rpc);
}

class ServerTest : public ::testing::Test {
 protected:
  // Starts the server on free ports, with settings over the initial ones.
  void StartServer(const server::SettingTexts& settings = {});
  ~ServerTest() override;

  // Asks one question with a deadline.
  grpc::Status Ask(const prism::v1::Question& question,
                   prism::v1::Prediction* prediction,
                   absl::Duration timeout = absl::Seconds(30));

  // Asks and leaves the call open until it is dropped.
  struct OpenCall {
    grpc::ClientContext context;
    prism::v1::PredictRequest request;
    prism::v1::PredictResponse response;
    std::atomic<bool> done = false;
    grpc::Status status;
    ~OpenCall();
    void Wait() const { done.wait(false); }
  };
  std::unique_ptr<OpenCall> AskLater(const prism::v1::Question& question);

  // Until `count` predictions have begun.
  void AwaitPredictions(int count) const;
  // Lets those that are held go on.
  void Release() { held_ = false; }

  double Metric(const std::string& series) const {
    return SeriesValue(HttpGet(server_->http_address(), "/metrics"), series);
  }

  // What the predictor does: waits as long as held_, unless cancelled or out
  // of time, which makes the answer REDUCED.
  absl::StatusOr<prism::v1::Prediction> Predict(const base::Budget& budget);

  std::atomic<bool> held_ = false;
  std::atomic<int> begun_ = 0;
  std::atomic<int> cancelled_ = 0;
  absl::Status failure_;  // returned by the predictor if not OK

  std::ostringstream log_text_;
  std::unique_ptr<server::JsonLog> log_;
  std::unique_ptr<server::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<prism::v1::PredictionService::Stub> stub_;
};

}  // namespace prism::testing

#endif  // PRISM_TESTS_INTEGRATION_SERVER_FIXTURE_H_
