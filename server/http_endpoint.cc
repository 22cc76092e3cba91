#include "server/http_endpoint.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <civetweb.h>

#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>

namespace prism::server {
namespace {

constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8";
constexpr char kPlainType[] = "text/plain; charset=utf-8";

int Respond(mg_connection* connection, const char* status_line,
            const char* content_type, const std::string& body) {
  const std::string head = absl::StrCat(
      "HTTP/1.1 ", status_line, "\r\nContent-Type: ", content_type,
      "\r\nContent-Length: ", body.size(), "\r\nConnection: close\r\n\r\n");
  mg_write(connection, head.data(), head.size());
  mg_write(connection, body.data(), body.size());
  return 1;
}

int Metrics(mg_connection* connection, void* handlers) {
  return Respond(connection, "200 OK", kMetricsType,
                 static_cast<HttpHandlers*>(handlers)->metrics());
}

int Healthy(mg_connection* connection, void*) {
  return Respond(connection, "200 OK", kPlainType, "ok\n");
}

int Ready(mg_connection* connection, void* handlers) {
  if (static_cast<HttpHandlers*>(handlers)->ready()) {
    return Respond(connection, "200 OK", kPlainType, "ready\n");
  }
  return Respond(connection, "503 Service Unavailable", kPlainType,
                 "not ready\n");
}

int NotFound(mg_connection* connection, void*) {
  return Respond(connection, "404 Not Found", kPlainType,
                 "try /metrics, /healthz or /readyz\n");
}

}  // namespace

class HttpEndpoint::Impl {
 public:
  explicit Impl(HttpHandlers handlers) : handlers_(std::move(handlers)) {}
  ~Impl() {
    if (context_ == nullptr) return;
    // mg_stop waits for an accept loop that looks up every two seconds, or
    // when somebody connects.
    const std::jthread nudge([this](std::stop_token stop) { Nudge(stop); });
    mg_stop(context_);
  }

  bool Start(const std::string& address) {
    const char* options[] = {
        "listening_ports",    address.c_str(), "num_threads", "4",
        "request_timeout_ms", "10000",         nullptr};
    const mg_callbacks callbacks = {};
    context_ = mg_start(&callbacks, this, options);
    if (context_ == nullptr) return false;
    mg_server_port ports[1] = {};
    mg_get_server_ports(context_, 1, ports);
    host_ = address.substr(0, address.rfind(':'));
    port_ = ports[0].port;
    // The pattern ends with $: no handler serves what lies below its path.
    mg_set_request_handler(context_, "/metrics$", Metrics, &handlers_);
    mg_set_request_handler(context_, "/healthz$", Healthy, &handlers_);
    mg_set_request_handler(context_, "/readyz$", Ready, &handlers_);
    mg_set_request_handler(context_, "/", NotFound, &handlers_);
    return true;
  }

  std::string address() const { return absl::StrCat(host_, ":", port_); }

 private:
  void Nudge(const std::stop_token& stop) const {
    while (!stop.stop_requested()) {
      char error[100];
      if (auto* connection = mg_connect_client(host_.c_str(), port_, 0, error,
                                               sizeof(error))) {
        mg_close_connection(connection);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  HttpHandlers handlers_;
  std::string host_;
  int port_ = 0;
  mg_context* context_ = nullptr;
};

HttpEndpoint::HttpEndpoint() = default;
HttpEndpoint::~HttpEndpoint() = default;

absl::StatusOr<std::unique_ptr<HttpEndpoint>> HttpEndpoint::Start(
    const std::string& address, HttpHandlers handlers) {
  std::unique_ptr<HttpEndpoint> endpoint(new HttpEndpoint());
  endpoint->impl_ = std::make_unique<Impl>(std::move(handlers));
  if (!endpoint->impl_->Start(address)) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on http address ", address));
  }
  endpoint->address_ = endpoint->impl_->address();
  return endpoint;
}

}  // namespace prism::server
