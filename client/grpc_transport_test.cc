#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/status_details.h"
#include "client/transport.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "prism/v1/prediction_service.grpc.pb.h"

namespace prism::client {
namespace {

using prism::v1::PredictionService;
using prism::v1::PredictRequest;
using prism::v1::PredictResponse;

using Handler =
    std::function<grpc::Status(grpc::ServerContext&, PredictResponse&)>;

// A server of one handler on a port that the system picks.
class ScriptedServer final : public PredictionService::Service {
 public:
  explicit ScriptedServer(Handler handler) : handler_(std::move(handler)) {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  ~ScriptedServer() override {
    server_->Shutdown(std::chrono::system_clock::now());
  }

  const std::string& address() const { return address_; }

  grpc::Status Predict(grpc::ServerContext* context, const PredictRequest*,
                       PredictResponse* response) override {
    return handler_(*context, *response);
  }

 private:
  Handler handler_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

std::optional<Failure> Ask(const std::string& address, absl::Duration timeout,
                           google::protobuf::MessageLite& response) {
  return MakeGrpcTransport(address)->Call("/prism.v1.PredictionService/Predict",
                                          PredictRequest(), timeout, response);
}

Failure FailureOf(const std::string& address,
                  absl::Duration timeout = absl::Seconds(20)) {
  PredictResponse response;
  const auto failure = Ask(address, timeout, response);
  return failure ? *failure : Failure{absl::OkStatus(), {}};
}

TEST(GrpcTransportTest, CarriesTheAnswer) {
  ScriptedServer server([](grpc::ServerContext&, PredictResponse& response) {
    response.add_predictions()->set_prediction_id("a");
    return grpc::Status::OK;
  });
  PredictResponse response;
  EXPECT_FALSE(Ask(server.address(), absl::Seconds(20), response));
  EXPECT_EQ(response.predictions(0).prediction_id(), "a");
}

TEST(GrpcTransportTest, CarriesTheDetailsOfAFailure) {
  ScriptedServer server([](grpc::ServerContext&, PredictResponse&) {
    google::rpc::BadRequest bad_request;
    bad_request.add_field_violations()->set_field("questions[0]");
    google::rpc::Status details;
    details.add_details()->PackFrom(bad_request);
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "wrong",
                        details.SerializeAsString());
  });
  const Failure failure = FailureOf(server.address());
  EXPECT_EQ(failure.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ViolationsOf(failure.status).list().at(0).field, "questions[0]");
}

TEST(GrpcTransportTest, CarriesPushback) {
  ScriptedServer server([](grpc::ServerContext& context, PredictResponse&) {
    context.AddTrailingMetadata("grpc-retry-pushback-ms", "250");
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "draining");
  });
  EXPECT_EQ(FailureOf(server.address()).pushback, "250");
}

TEST(GrpcTransportTest, EndsAtTheDeadline) {
  ScriptedServer server([](grpc::ServerContext& context, PredictResponse&) {
    while (!context.IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
    return grpc::Status::CANCELLED;
  });
  EXPECT_EQ(FailureOf(server.address(), absl::Milliseconds(50)).status.code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(GrpcTransportTest, AServerThatIsNotThereIsUnavailable) {
  std::string address;
  {
    ScriptedServer server([](grpc::ServerContext&, PredictResponse&) {
      return grpc::Status::OK;
    });
    address = server.address();
  }
  EXPECT_EQ(FailureOf(address).status.code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace prism::client
