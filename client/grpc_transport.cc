#include <grpcpp/grpcpp.h>

#include <chrono>

#include "client/status_details.h"
#include "client/transport.h"
#include "prism/v1/prediction_service.grpc.pb.h"

namespace prism::client {
namespace {

using prism::v1::PredictionService;
using prism::v1::PredictRequest;
using prism::v1::PredictResponse;

constexpr char kPushback[] = "grpc-retry-pushback-ms";
constexpr int kMostResponseBytes = 64 << 20;

grpc::ChannelArguments ChannelOptions() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMostResponseBytes);
  // RetryPolicy decides on retries. A channel that waits longer between
  // connection attempts than the policy between calls would spoil them.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5000);
  return arguments;
}

Failure FailureOf(const grpc::Status& status,
                  const grpc::ClientContext& context) {
  Failure failure{StatusWithDetails(status.error_code(), status.error_message(),
                                    status.error_details()),
                  {}};
  const auto& trailers = context.GetServerTrailingMetadata();
  if (const auto found = trailers.find(kPushback); found != trailers.end()) {
    failure.pushback.emplace(found->second.data(), found->second.size());
  }
  return failure;
}

class GrpcTransport final : public Transport {
 public:
  explicit GrpcTransport(const std::string& address)
      : stub_(PredictionService::NewStub(grpc::CreateCustomChannel(
            address, grpc::InsecureChannelCredentials(), ChannelOptions()))) {}

  Outcome Predict(const PredictRequest& request,
                  absl::Duration timeout) override {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         absl::ToChronoNanoseconds(timeout));
    PredictResponse response;
    const grpc::Status status = stub_->Predict(&context, request, &response);
    if (!status.ok()) return FailureOf(status, context);
    return response;
  }

 private:
  std::unique_ptr<PredictionService::Stub> stub_;
};

}  // namespace

std::unique_ptr<Transport> MakeGrpcTransport(const std::string& address) {
  return std::make_unique<GrpcTransport>(address);
}

}  // namespace prism::client
