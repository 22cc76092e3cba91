// RequestLog: one line of the log for a request.
//
// Failed and slow requests are always logged. Of the others, each second's
// first few are; the line that follows says how many were left out.
#ifndef PRISM_SERVER_REQUEST_LOG_H_
#define PRISM_SERVER_REQUEST_LOG_H_

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "prism/v1/prediction.pb.h"
#include "server/json_log.h"

namespace prism::server {

// What is logged of one request. Views live as long as the call of Write.
struct RequestRecord {
  std::string_view method;
  // Of the first answer, or of the request where there is none.
  std::string_view prediction_id;
  std::string_view signature;
  prism::v1::CacheStatus cache = prism::v1::CACHE_STATUS_UNSPECIFIED;
  prism::v1::Quality quality = prism::v1::QUALITY_UNSPECIFIED;
  int64_t questions = 0;  // 0: the request asked none, or failed
  double latency_seconds = 0;
  absl::Time end;
  // As it arose, with what callers are not told.
  absl::Status status;
};

struct RequestLogOptions {
  int64_t successes_per_second = 100;
  double slow_seconds = 1;
};

// Thread-safe.
class RequestLog {
 public:
  // `log` outlives the object.
  RequestLog(const RequestLogOptions& options, JsonLog& log)
      : options_(options), log_(log) {}

  void Write(const RequestRecord& record);

 private:
  bool Sampled(absl::Time now);

  const RequestLogOptions options_;
  JsonLog& log_;
  std::atomic<int64_t> second_{0};  // since the epoch
  std::atomic<int64_t> logged_{0};  // in that second
  std::atomic<int64_t> left_out_{0};
};

}  // namespace prism::server

#endif  // PRISM_SERVER_REQUEST_LOG_H_
