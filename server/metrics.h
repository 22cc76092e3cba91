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
#include <string>

#include "prism/v1/prediction.pb.h"

namespace prism::server {

// The grpc_server_* series of one method.
class MethodMetrics {
 public:
  MethodMetrics(prometheus::Registry& registry, const std::string& type,
                const std::string& method);

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

  void CountPrediction(prism::v1::Quality quality);

  MethodMetrics predict;
  MethodMetrics predict_stream;

  prometheus::Gauge& requests_in_flight;
  prometheus::Gauge& queue_depth;
  prometheus::Histogram& queue_wait_seconds;
  prometheus::Counter& shed_queue_full;
  prometheus::Counter& shed_draining;
  prometheus::Counter& shed_expired;  // deadline passed while queued

  prometheus::Histogram& montecarlo_seconds;
  prometheus::Histogram& structured_seconds;
  prometheus::Counter& simulation_samples;

  prometheus::Counter& cache_hits;
  prometheus::Counter& cache_misses;
  prometheus::Counter& cache_coalesced;
  prometheus::Gauge& cache_entries;
  prometheus::Gauge& cache_bytes;
  prometheus::Counter& evicted_for_space;
  prometheus::Counter& evicted_expired;
  prometheus::Counter& evicted_collision;

 private:
  std::array<prometheus::Counter*, 5> predictions_;  // by quality
};

}  // namespace prism::server

#endif  // PRISM_SERVER_METRICS_H_
