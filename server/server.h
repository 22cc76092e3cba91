// Server: prismd without its process. Everything that runs, from start to
// drain; a test starts as many as it likes.
#ifndef PRISM_SERVER_SERVER_H_
#define PRISM_SERVER_SERVER_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "prism/v1/server_config.pb.h"
#include "server/json_log.h"
#include "server/metrics.h"
#include "server/predict_request.h"

namespace prism::server {

class Server final {
 public:
  // Listens on both addresses of `config` and serves. `log` outlives the
  // server. UNAVAILABLE if an address cannot be had; errors of
  // ClusterStore::Open.
  //
  // Requires: `config` came from ReadConfig.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      const prism::v1::ServerConfig& config, const Predictor& predictor,
      JsonLog& log);
  // Drains first.
  ~Server();

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Says NOT_SERVING, serves on for drain_notice_seconds, then refuses new
  // calls and waits for those in flight, at most drain_seconds, after which
  // they are cancelled. Blocks. Only the first call does anything; not to be
  // called by several threads at once.
  void Drain();

  // HOST:PORT with the ports that are listened on.
  const std::string& grpc_address() const;
  const std::string& http_address() const;

  const Metrics& metrics() const;

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_SERVER_H_
