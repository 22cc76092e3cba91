// ServiceState: what the calls of the prediction service share.
#ifndef PRISM_SERVER_SERVICE_STATE_H_
#define PRISM_SERVER_SERVICE_STATE_H_

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/query/question.h"
#include "prism/v1/prediction.pb.h"
#include "server/answers.h"
#include "server/call_scope.h"
#include "server/request_reader.h"

namespace prism::server {

// Answers one question: query::Predict, or a test's stand-in. Thread-safe.
using Predictor = std::function<absl::StatusOr<prism::v1::Prediction>(
    const query::Question&, const base::Budget&, base::Executor&)>;

class PredictStreamCall;

// Thread-safe.
struct ServiceState {
  Predictor predictor;
  Answers& answers;
  CallTools& tools;
  std::atomic<bool> draining{false};
  RequestReader unary_reader;
  RequestReader stream_reader;

  std::mutex streams_mutex;
  std::set<PredictStreamCall*> streams;  // that are open

  // As Answers::Ask; UNAVAILABLE while draining.
  absl::StatusOr<Answers::Asked> Ask(const ReadQuestion& question,
                                     absl::Time deadline, Done done);
};

}  // namespace prism::server

#endif  // PRISM_SERVER_SERVICE_STATE_H_
