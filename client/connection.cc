#include "client/connection.h"

#include <random>
#include <utility>

namespace prism::client {
namespace {

// Uses the system's source, which may be asked from any thread.
double RandomJitter() {
  std::random_device source;
  return std::uniform_real_distribution<double>(0, 1)(source);
}

}  // namespace

std::unique_ptr<Connection> Connection::To(const std::string& address,
                                           RetryOptions options) {
  return std::make_unique<Connection>(MakeGrpcTransport(address),
                                      std::make_unique<SystemClock>(), options,
                                      RandomJitter);
}

Connection::Connection(std::unique_ptr<Transport> transport,
                       std::unique_ptr<Clock> clock, RetryOptions options,
                       std::function<double()> jitter)
    : transport_(std::move(transport)),
      clock_(std::move(clock)),
      retry_policy_(options),
      jitter_(std::move(jitter)) {}

absl::Status Connection::Call(const std::string& method,
                              const google::protobuf::MessageLite& request,
                              absl::Duration timeout,
                              google::protobuf::MessageLite& response) {
  const absl::Time deadline = clock_->Now() + timeout;
  for (int attempts = 1;; ++attempts) {
    const auto failure =
        transport_->Call(method, request, deadline - clock_->Now(), response);
    if (!failure) return absl::OkStatus();
    const auto delay = retry_policy_.Delay(*failure, attempts,
                                           deadline - clock_->Now(), jitter_());
    if (!delay.has_value()) return failure->status;
    clock_->Sleep(*delay);
  }
}

}  // namespace prism::client
