// prismctl complete: when a job will be done.
#ifndef PRISM_CLIENT_PRISMCTL_COMPLETE_COMMAND_H_
#define PRISM_CLIENT_PRISMCTL_COMPLETE_COMMAND_H_

#include <optional>
#include <string>

#include "client/prismctl/command.h"

namespace prism::prismctl {

// Seconds of "90", "90s", "15m", "2.5h" or "30d"; nothing for other texts and
// for what is not finite or negative.
std::optional<double> ParseSeconds(const std::string& text);

Command CompleteCommand();

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_COMPLETE_COMMAND_H_
