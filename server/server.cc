#include "server/server.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <grpc/grpc.h>
#include <grpcpp/ext/channelz_service_plugin.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "core/query/question.h"
#include "server/answers.h"
#include "server/call_scope.h"
#include "server/cluster_service.h"
#include "server/cluster_store.h"
#include "server/completion_service.h"
#include "server/explain_service.h"
#include "server/http_endpoint.h"
#include "server/placement_service.h"
#include "server/prediction_service.h"
#include "server/request_log.h"
#include "server/service_state.h"
#include "server/timeline_service.h"

namespace prism::server {
namespace {

using prism::v1::ServerConfig;

// A client may ping every so often to keep its connection, also when idle.
constexpr int kLeastPingMilliseconds = 10000;
// Part of cache_bytes that remembers requests by their bytes.
constexpr double kRecentShare = 0.25;

AnswersOptions AnswersOptionsOf(const ServerConfig& config) {
  const unsigned processors = std::max(1u, std::thread::hardware_concurrency());
  AnswersOptions options;
  options.workers =
      static_cast<int>(config.workers() > 0 ? config.workers() : processors);
  options.queue_limit = static_cast<int>(config.queue_limit());
  options.cache_bytes = static_cast<size_t>(
      (1 - kRecentShare) * static_cast<double>(config.cache_bytes()));
  options.ttl = absl::Seconds(config.cache_ttl_seconds());
  options.max_prediction = absl::Seconds(config.max_prediction_seconds());
  return options;
}

RequestLogOptions RequestLogOptionsOf(const ServerConfig& config) {
  return {.successes_per_second = config.log_successes_per_second(),
          .slow_seconds = config.slow_request_seconds()};
}

void InstallPlugins(const ServerConfig& config) {
  grpc::EnableDefaultHealthCheckService(true);
  if (config.reflection()) {
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  }
  if (config.channelz()) grpc::channelz::experimental::InitChannelzService();
}

}  // namespace

class Server::Impl {
 public:
  Impl(const ServerConfig& config, JsonLog& log)
      : config_(config),
        log_(log),
        metrics_(query::ModelVersion()),
        request_log_(RequestLogOptionsOf(config), log),
        tools_{.clock = [] { return absl::Now(); },
               .metrics = metrics_,
               .log = request_log_,
               .ids = {}},
        answers_(AnswersOptionsOf(config), tools_.clock, metrics_),
        state_{.answers = answers_, .tools = tools_} {}

  ~Impl() { Drain(); }

  absl::Status Start(const Predictor& predictor) {
    if (auto status = OpenStore(); !status.ok()) return status;
    MakeServices(predictor);
    auto http = HttpEndpoint::Start(
        config_.http(), {.metrics = [this] { return metrics_.Text(); },
                         .ready = [this] { return ready_.load(); }});
    if (!http.ok()) return http.status();
    http_ = *std::move(http);
    if (auto status = StartGrpc(); !status.ok()) return status;
    SetServing(true);
    log_.Write(LogLevel::kInfo, "listening",
               {{"grpc", grpc_address_},
                {"http", http_->address()},
                {"version", PRISM_VERSION},
                {"model_version", query::ModelVersion()}});
    return absl::OkStatus();
  }

  void Drain() {
    if (grpc_ == nullptr) return;
    SetServing(false);
    log_.Write(LogLevel::kInfo, "draining",
               {{"requests_in_flight", metrics_.requests_in_flight.Value()}});
    absl::SleepFor(absl::Seconds(config_.drain_notice_seconds()));
    state_.draining = true;
    predictions_->EndStreams();
    grpc_->Shutdown(
        std::chrono::system_clock::now() +
        absl::ToChronoNanoseconds(absl::Seconds(config_.drain_seconds())));
    grpc_->Wait();
    grpc_.reset();
    log_.Write(LogLevel::kInfo, "drained", {});
  }

  const std::string& grpc_address() const { return grpc_address_; }
  const std::string& http_address() const { return http_->address(); }
  const Metrics& metrics() const { return metrics_; }

 private:
  absl::Status OpenStore() {
    if (config_.data_folder().empty()) return absl::OkStatus();
    auto store =
        ClusterStore::Open(config_.data_folder(), tools_.clock, metrics_);
    if (!store.ok()) return store.status();
    store_ = *std::move(store);
    state_.clusters = store_.get();
    return absl::OkStatus();
  }

  void MakeServices(const Predictor& predictor) {
    const auto recent_bytes = static_cast<size_t>(
        kRecentShare * static_cast<double>(config_.cache_bytes()));
    predictions_.emplace(predictor, recent_bytes / 2, state_);
    placements_.emplace(recent_bytes / 4, state_);
    completions_.emplace(recent_bytes / 8, state_);
    timelines_.emplace(recent_bytes / 16, state_);
    explanations_.emplace(recent_bytes / 16, state_);
    clusters_.emplace(state_);
  }

  absl::Status StartGrpc() {
    InstallPlugins(config_);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(config_.listen(),
                             grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(
        static_cast<int>(config_.max_message_bytes()));
    // A second server on the same port is an error, not a partner.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(
        GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
        kLeastPingMilliseconds);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.RegisterService(&*predictions_);
    builder.RegisterService(&*placements_);
    builder.RegisterService(&*completions_);
    builder.RegisterService(&*timelines_);
    builder.RegisterService(&*explanations_);
    builder.RegisterService(&*clusters_);
    grpc_ = builder.BuildAndStart();
    if (grpc_ == nullptr || port == 0) {
      grpc_.reset();
      return absl::UnavailableError(
          absl::StrCat("cannot listen on grpc address ", config_.listen()));
    }
    grpc_address_ = absl::StrCat(
        config_.listen().substr(0, config_.listen().rfind(':')), ":", port);
    return absl::OkStatus();
  }

  void SetServing(bool serving) {
    ready_ = serving;
    auto& health = *grpc_->GetHealthCheckService();
    health.SetServingStatus("", serving);
    for (const char* service :
         {prism::v1::PredictionService::service_full_name(),
          prism::v1::PlacementService::service_full_name(),
          prism::v1::CompletionService::service_full_name(),
          prism::v1::TimelineService::service_full_name(),
          prism::v1::ExplainService::service_full_name(),
          prism::v1::ClusterService::service_full_name()}) {
      health.SetServingStatus(service, serving);
    }
  }

  const ServerConfig config_;
  JsonLog& log_;
  Metrics metrics_;
  RequestLog request_log_;
  CallTools tools_;
  Answers answers_;
  std::unique_ptr<ClusterStore> store_;  // null: no data folder
  ServiceState state_;
  std::optional<PredictionService> predictions_;
  std::optional<PlacementService> placements_;
  std::optional<CompletionService> completions_;
  std::optional<TimelineService> timelines_;
  std::optional<ExplainService> explanations_;
  std::optional<ClusterService> clusters_;
  std::atomic<bool> ready_{false};
  std::string grpc_address_;
  std::unique_ptr<HttpEndpoint> http_;
  std::unique_ptr<grpc::Server> grpc_;
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(
    const ServerConfig& config, const Predictor& predictor, JsonLog& log) {
  auto impl = std::make_unique<Impl>(config, log);
  if (auto status = impl->Start(predictor); !status.ok()) return status;
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

void Server::Drain() { impl_->Drain(); }

const std::string& Server::grpc_address() const {
  return impl_->grpc_address();
}
const std::string& Server::http_address() const {
  return impl_->http_address();
}
const Metrics& Server::metrics() const { return impl_->metrics(); }

}  // namespace prism::server
