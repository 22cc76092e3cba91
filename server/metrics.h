// Metrics: everything that prismd tells Prometheus.
//
// Every series is made once, here, and used through its handle: looking a
// series up by labels takes a lock. Names follow docs/operations.md; no label
// has a value that callers choose. Thread-safe.
#ifndef PRISM_SERVER_METRICS_H_
#define PRISM_SERVER_METRICS_H_

#include <absl/status/status.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <deque>
#include <mutex>
#include <string>

#include "prism/v1/prediction.pb.h"
#include "server/answer.h"

namespace prism::server {

// A method as the grpc_server_* series name it.
struct MethodName {
  std::string service;  // "prism.v1.PredictionService"
  std::string method;   // "Predict"
  std::string type = "unary";
};

// The grpc_server_* series of one method.
class MethodMetrics {
 public:
  MethodMetrics(prometheus::Registry& registry, const MethodName& name);

  void Started() { started_.Increment(); }
  void Handled(absl::StatusCode code, double seconds);

 private:
  static constexpr int kCodes = 17;

  prometheus::Counter& started_;
  std::array<prometheus::Counter*, kCodes> handled_;
  prometheus::Histogram& seconds_;
};

class Metrics {
 private:
  // Before the series that live in it.
  prometheus::Registry registry_;

 public:
  explicit Metrics(const std::string& model_version);

  // The text exposition format.
  std::string Text() const;

  // The series of a method; lives as long as this object.
  MethodMetrics& AddMethod(const MethodName& name);

  void CountPrediction(prism::v1::Quality quality);

  // Time to compute one answer.
  prometheus::Histogram& SimulationSeconds(Engine engine) {
    return *simulation_seconds_[static_cast<size_t>(engine)];
  }

  prometheus::Gauge& requests_in_flight;
  prometheus::Gauge& queue_depth;
  prometheus::Histogram& queue_wait_seconds;
  prometheus::Counter& shed_queue_full;
  prometheus::Counter& shed_draining;
  prometheus::Counter& shed_expired;  // deadline passed while queued

  prometheus::Counter& simulation_samples;

  prometheus::Counter& cache_hits;
  prometheus::Counter& cache_misses;
  prometheus::Counter& cache_coalesced;
  prometheus::Gauge& cache_entries;
  prometheus::Gauge& cache_bytes;
  prometheus::Counter& evicted_for_space;
  prometheus::Counter& evicted_expired;
  prometheus::Counter& evicted_collision;

  prometheus::Gauge& clusters;
  prometheus::Counter& node_updates;
  prometheus::Histogram& cluster_write_seconds;  // one transaction
  prometheus::Gauge& cluster_change_time;        // seconds since the epoch

 private:
  std::mutex methods_mutex_;
  std::deque<MethodMetrics> methods_;
  std::array<prometheus::Histogram*, kEngines>
      simulation_seconds_;                           // by engine
  std::array<prometheus::Counter*, 5> predictions_;  // by quality
};

}  // namespace prism::server

#endif  // PRISM_SERVER_METRICS_H_
