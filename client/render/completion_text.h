// When a job will be done, as text that a person reads.
#ifndef PRISM_CLIENT_RENDER_COMPLETION_TEXT_H_
#define PRISM_CLIENT_RENDER_COMPLETION_TEXT_H_

#include <string>

#include "client/render/terminal.h"
#include "prism/v1/completion_service.pb.h"

namespace prism::render {

// Quantiles, the deadline's odds, failures, checkpoints and what time goes
// into; what-ifs beside it. Requires: response.feasible().
std::string CompletionText(const prism::v1::ProjectCompletionResponse& response,
                           const Terminal& terminal);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_COMPLETION_TEXT_H_
