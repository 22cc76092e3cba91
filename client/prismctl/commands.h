// The list of prismctl's commands.
#ifndef PRISM_CLIENT_PRISMCTL_COMMANDS_H_
#define PRISM_CLIENT_PRISMCTL_COMMANDS_H_

#include <vector>

#include "client/prismctl/command.h"

namespace prism::prismctl {

std::vector<Command> AllCommands();

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_COMMANDS_H_
