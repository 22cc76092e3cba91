// ServiceState: what the calls of all services share.
#ifndef PRISM_SERVER_SERVICE_STATE_H_
#define PRISM_SERVER_SERVICE_STATE_H_

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <atomic>

#include "server/answers.h"
#include "server/call_scope.h"
#include "server/cluster_store.h"
#include "server/question.h"

namespace prism::server {

// Thread-safe.
struct ServiceState {
  Answers& answers;
  CallTools& tools;
  ClusterStore* clusters = nullptr;  // null: the server stores none
  std::atomic<bool> draining{false};

  // As Answers::Ask; UNAVAILABLE while draining.
  absl::StatusOr<Answers::Asked> Ask(const PreparedQuestion& question,
                                     absl::Time deadline, Done done);
};

}  // namespace prism::server

#endif  // PRISM_SERVER_SERVICE_STATE_H_
