// Clock: where the server's time comes from. Tests pass their own.
#ifndef PRISM_SERVER_CLOCK_H_
#define PRISM_SERVER_CLOCK_H_

#include <absl/time/time.h>

#include <functional>

namespace prism::server {

// Called from any thread at any time.
using Clock = std::function<absl::Time()>;

}  // namespace prism::server

#endif  // PRISM_SERVER_CLOCK_H_
