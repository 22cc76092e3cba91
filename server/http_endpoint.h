// HttpEndpoint: /metrics, /healthz and /readyz on one port.
//
// Liveness asks nothing but whether the process answers; readiness asks
// whether it wants traffic.
#ifndef PRISM_SERVER_HTTP_ENDPOINT_H_
#define PRISM_SERVER_HTTP_ENDPOINT_H_

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>

namespace prism::server {

// Both are called on the endpoint's own threads.
struct HttpHandlers {
  std::function<std::string()> metrics;  // text exposition format
  std::function<bool()> ready;
};

class HttpEndpoint final {
 public:
  // Listens on `address`, HOST:PORT with a numeric host; port 0 takes a free
  // one. UNAVAILABLE if the address cannot be had.
  static absl::StatusOr<std::unique_ptr<HttpEndpoint>> Start(
      const std::string& address, HttpHandlers handlers);
  // Waits for requests in flight.
  ~HttpEndpoint();

  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

  // HOST:PORT with the port that is listened on.
  const std::string& address() const { return address_; }

 private:
  class Impl;
  HttpEndpoint();

  std::unique_ptr<Impl> impl_;
  std::string address_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_HTTP_ENDPOINT_H_
