#include "client/retry_policy.h"

#include <absl/strings/numbers.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "client/status_details.h"

namespace prism::client {
namespace {

constexpr double kJitter = 0.2;

bool MayRetry(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         (status.code() == absl::StatusCode::kResourceExhausted &&
          RetryDelayOf(status).has_value());
}

std::optional<absl::Duration> ReadPushback(const std::string& text) {
  int32_t milliseconds = 0;
  if (!absl::SimpleAtoi(text, &milliseconds) || milliseconds < 0) {
    return std::nullopt;
  }
  return absl::Milliseconds(milliseconds);
}

}  // namespace

std::optional<absl::Duration> RetryPolicy::WantedDelay(const Failure& failure,
                                                       int attempts,
                                                       double jitter) const {
  if (failure.pushback.has_value()) return ReadPushback(*failure.pushback);
  if (auto named = RetryDelayOf(failure.status)) return named;
  const absl::Duration grown =
      options_.first_delay * std::pow(options_.growth, attempts - 1);
  return std::min(grown, options_.longest_delay) *
         (1 - kJitter + 2 * kJitter * jitter);
}

std::optional<absl::Duration> RetryPolicy::Delay(const Failure& failure,
                                                 int attempts,
                                                 absl::Duration remaining,
                                                 double jitter) const {
  if (attempts >= options_.most_attempts || !MayRetry(failure.status)) {
    return std::nullopt;
  }
  const auto delay = WantedDelay(failure, attempts, jitter);
  if (!delay.has_value() || *delay >= remaining) return std::nullopt;
  return delay;
}

}  // namespace prism::client
