// Clock: time that passes, so that tests can make it pass.
#ifndef PRISM_CLIENT_CLOCK_H_
#define PRISM_CLIENT_CLOCK_H_

#include <absl/time/clock.h>
#include <absl/time/time.h>

namespace prism::client {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual absl::Time Now() = 0;
  virtual void Sleep(absl::Duration duration) = 0;
};

class SystemClock final : public Clock {
 public:
  absl::Time Now() override { return absl::Now(); }
  void Sleep(absl::Duration duration) override { absl::SleepFor(duration); }
};

}  // namespace prism::client

#endif  // PRISM_CLIENT_CLOCK_H_
