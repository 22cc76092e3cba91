// Help texts of prismctl and its commands.
#ifndef PRISM_CLIENT_PRISMCTL_HELP_H_
#define PRISM_CLIENT_PRISMCTL_HELP_H_

#include <string>
#include <vector>

#include "client/prismctl/command.h"

namespace prism::prismctl {

// What prismctl is, its commands and global options.
std::string ProgramHelp(const std::vector<Command>& commands, int columns);

// How to use one command. `path` is its full name: "import megatron".
std::string CommandHelp(const Command& command, const std::string& path,
                        int columns);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_HELP_H_
