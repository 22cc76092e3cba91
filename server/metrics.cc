#include "server/metrics.h"

#include <prometheus/text_serializer.h>

#include <iterator>

namespace prism::server {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Labels;

// Factor about 2, with a boundary on each objective: 50 ms, 200 ms, 1 s.
const prometheus::Histogram::BucketBoundaries& LatencyBuckets() {
  static const auto& buckets = *new prometheus::Histogram::BucketBoundaries{
      0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
      0.1,    0.2,   0.5,    1,     2.5,  5,     10};
  return buckets;
}

// How the common grpc_server_* series spell the codes, by number.
constexpr const char* kCodeLabels[] = {"OK",
                                       "Canceled",
                                       "Unknown",
                                       "InvalidArgument",
                                       "DeadlineExceeded",
                                       "NotFound",
                                       "AlreadyExists",
                                       "PermissionDenied",
                                       "ResourceExhausted",
                                       "FailedPrecondition",
                                       "Aborted",
                                       "OutOfRange",
                                       "Unimplemented",
                                       "Internal",
                                       "Unavailable",
                                       "DataLoss",
                                       "Unauthenticated"};

prometheus::Counter& Counter(prometheus::Registry& registry,
                             const std::string& name, const std::string& help,
                             const Labels& labels = {}) {
  return BuildCounter().Name(name).Help(help).Register(registry).Add(labels);
}

prometheus::Gauge& Gauge(prometheus::Registry& registry,
                         const std::string& name, const std::string& help,
                         const Labels& labels = {}) {
  return BuildGauge().Name(name).Help(help).Register(registry).Add(labels);
}

prometheus::Histogram& Seconds(prometheus::Registry& registry,
                               const std::string& name, const std::string& help,
                               const Labels& labels = {}) {
  return BuildHistogram().Name(name).Help(help).Register(registry).Add(
      labels, LatencyBuckets());
}

prometheus::Counter& Shed(prometheus::Registry& registry,
                          const std::string& reason) {
  return Counter(registry, "prism_requests_shed_total",
                 "Questions refused to protect the server.",
                 {{"reason", reason}});
}

prometheus::Counter& CacheRequests(prometheus::Registry& registry,
                                   const std::string& result) {
  return Counter(registry, "prism_cache_requests_total",
                 "Questions by what the cache said.",
                 {{"tier", "memory"}, {"result", result}});
}

prometheus::Counter& Evictions(prometheus::Registry& registry,
                               const std::string& reason) {
  return Counter(registry, "prism_cache_evictions_total",
                 "Answers that left the cache.", {{"reason", reason}});
}

Labels LabelsOf(const MethodName& name) {
  return {{"grpc_type", name.type},
          {"grpc_service", name.service},
          {"grpc_method", name.method}};
}

Labels WithCode(Labels labels, int code) {
  labels["grpc_code"] = kCodeLabels[code];
  return labels;
}

// By number.
constexpr const char* kEngineLabels[] = {"montecarlo", "structured",
                                         "placement",  "completion",
                                         "timeline",   "explain"};

}  // namespace

MethodMetrics::MethodMetrics(prometheus::Registry& registry,
                             const MethodName& name)
    : started_(Counter(registry, "grpc_server_started_total", "Calls started.",
                       LabelsOf(name))),
      seconds_(Seconds(registry, "grpc_server_handling_seconds",
                       "Time from the start of a call to its end.",
                       LabelsOf(name))) {
  static_assert(std::size(kCodeLabels) == kCodes);
  for (int code = 0; code < kCodes; ++code) {
    handled_[code] = &Counter(registry, "grpc_server_handled_total",
                              "Calls ended.", WithCode(LabelsOf(name), code));
  }
}

void MethodMetrics::Handled(absl::StatusCode code, double seconds) {
  handled_[static_cast<int>(code)]->Increment();
  seconds_.Observe(seconds);
}

Metrics::Metrics(const std::string& model_version)
    : requests_in_flight(Gauge(registry_, "prism_requests_in_flight",
                               "Calls that have not ended.")),
      queue_depth(Gauge(registry_, "prism_queue_depth",
                        "Questions that wait for a worker.")),
      queue_wait_seconds(Seconds(registry_, "prism_queue_wait_seconds",
                                 "Time a question waited for a worker.")),
      shed_queue_full(Shed(registry_, "queue_full")),
      shed_draining(Shed(registry_, "draining")),
      shed_expired(Shed(registry_, "expired")),
      simulation_samples(Counter(registry_, "prism_simulation_samples_total",
                                 "Steps simulated.")),
      cache_hits(CacheRequests(registry_, "hit")),
      cache_misses(CacheRequests(registry_, "miss")),
      cache_coalesced(CacheRequests(registry_, "coalesced")),
      cache_entries(
          Gauge(registry_, "prism_cache_entries", "Answers in the cache.")),
      cache_bytes(Gauge(registry_, "prism_cache_bytes",
                        "Memory charged for cached answers.")),
      evicted_for_space(Evictions(registry_, "size")),
      evicted_expired(Evictions(registry_, "expired")),
      evicted_collision(Evictions(registry_, "collision")),
      clusters(Gauge(registry_, "prism_clusters", "Clusters stored.")),
      node_updates(Counter(registry_, "prism_node_updates_total",
                           "Node states changed on disk.")),
      cluster_write_seconds(Seconds(
          registry_, "prism_cluster_write_seconds",
          "Time to bring changes of clusters to disk, one transaction.")),
      cluster_change_time(Gauge(registry_, "prism_cluster_change_time_seconds",
                                "When a cluster was last changed, in seconds "
                                "since the epoch; 0: never.")) {
  static_assert(std::size(kEngineLabels) == kEngines);
  for (size_t i = 0; i < simulation_seconds_.size(); ++i) {
    simulation_seconds_[i] =
        &Seconds(registry_, "prism_simulation_seconds",
                 "Time to compute one answer.", {{"core", kEngineLabels[i]}});
  }
  auto& predictions = BuildCounter()
                          .Name("prism_predictions_total")
                          .Help("Predictions given, by quality.")
                          .Register(registry_);
  for (int quality = 0; quality < static_cast<int>(predictions_.size());
       ++quality) {
    const std::string name = prism::v1::Quality_Name(quality);
    predictions_[quality] = &predictions.Add(
        {{"quality", name.substr(std::string("QUALITY_").size())}});
  }
  Gauge(registry_, "prism_build_info", "Always 1.",
        {{"version", PRISM_VERSION}, {"model_version", model_version}})
      .Set(1);
}

MethodMetrics& Metrics::AddMethod(const MethodName& name) {
  std::lock_guard lock(methods_mutex_);
  return methods_.emplace_back(registry_, name);
}

void Metrics::CountPrediction(prism::v1::Quality quality) {
  const auto index = static_cast<size_t>(quality);
  predictions_[index < predictions_.size() ? index : 0]->Increment();
}

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(registry_.Collect());
}

}  // namespace prism::server
