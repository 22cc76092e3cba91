#include "server/service_state.h"

#include <utility>

#include "server/rpc_status.h"

namespace prism::server {

absl::StatusOr<Answers::Asked> ServiceState::Ask(
    const PreparedQuestion& question, absl::Time deadline, Done done) {
  if (draining) {
    tools.metrics.shed_draining.Increment();
    return DrainingError();
  }
  return answers.Ask(question.key, question.compute, deadline, std::move(done));
}

}  // namespace prism::server
