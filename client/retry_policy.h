// RetryPolicy: whether and when a failed call is tried again.
//
// Only UNAVAILABLE is retried by itself: the question was not answered and may
// be asked again. RESOURCE_EXHAUSTED is retried when the server named a time
// (google.rpc.RetryInfo). A server's `grpc-retry-pushback-ms` counts before
// both; a negative or unreadable one forbids the retry (gRPC proposal A6).
// Nothing else is ever retried.
//
// Immutable; thread-safe.
#ifndef PRISM_CLIENT_RETRY_POLICY_H_
#define PRISM_CLIENT_RETRY_POLICY_H_

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <optional>
#include <string>

namespace prism::client {

struct RetryOptions {
  // Attempts altogether, at least 1; 1: no retry.
  int most_attempts = 5;
  // Wait before the second attempt; grows by `growth` up to `longest_delay`.
  absl::Duration first_delay = absl::Milliseconds(100);
  double growth = 2;  // at least 1
  absl::Duration longest_delay = absl::Seconds(5);
};

// How one attempt failed.
struct Failure {
  absl::Status status;
  // Value of the trailing metadata `grpc-retry-pushback-ms`.
  std::optional<std::string> pushback;
};

class RetryPolicy {
 public:
  explicit RetryPolicy(RetryOptions options) : options_(options) {}

  // The wait before the next attempt after `attempts` failed ones (at least
  // 1), or nothing: give up. `remaining` is what is left until the deadline;
  // no wait reaches it. `jitter`, 0 to 1, spreads clients over 80% to 120% of
  // a delay of our own; a server's delay is taken as it is.
  std::optional<absl::Duration> Delay(const Failure& failure, int attempts,
                                      absl::Duration remaining,
                                      double jitter) const;

 private:
  std::optional<absl::Duration> WantedDelay(const Failure& failure,
                                            int attempts, double jitter) const;

  RetryOptions options_;
};

}  // namespace prism::client

#endif  // PRISM_CLIENT_RETRY_POLICY_H_
