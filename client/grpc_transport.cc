#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <future>

#include "client/status_details.h"
#include "client/transport.h"

namespace prism::client {
namespace {

using google::protobuf::MessageLite;

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

grpc::ByteBuffer BufferOf(const MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

bool Parse(const grpc::ByteBuffer& buffer, MessageLite& message) {
  grpc::Slice slice;
  return buffer.DumpToSingleSlice(&slice).ok() &&
         message.ParseFromArray(slice.begin(), static_cast<int>(slice.size()));
}

class GrpcTransport final : public Transport {
 public:
  explicit GrpcTransport(const std::string& address)
      : stub_(grpc::CreateCustomChannel(
            address, grpc::InsecureChannelCredentials(), ChannelOptions())) {}

  std::optional<Failure> Call(const std::string& method,
                              const MessageLite& request,
                              absl::Duration timeout,
                              MessageLite& response) override {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         absl::ToChronoNanoseconds(timeout));
    const grpc::ByteBuffer sent = BufferOf(request);
    grpc::ByteBuffer received;
    std::promise<grpc::Status> ended;
    stub_.UnaryCall(
        &context, method, grpc::StubOptions(), &sent, &received,
        [&ended](grpc::Status status) { ended.set_value(std::move(status)); });
    const grpc::Status status = ended.get_future().get();
    if (!status.ok()) return FailureOf(status, context);
    if (Parse(received, response)) return std::nullopt;
    return Failure{absl::InternalError("the server's answer is no " +
                                       response.GetTypeName()),
                   {}};
  }

 private:
  grpc::GenericStub stub_;
};

}  // namespace

std::unique_ptr<Transport> MakeGrpcTransport(const std::string& address) {
  return std::make_unique<GrpcTransport>(address);
}

}  // namespace prism::client
