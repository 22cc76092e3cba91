// The command line: arguments in, a command run, an exit code out.
#ifndef PRISM_CLIENT_PRISMCTL_COMMAND_LINE_H_
#define PRISM_CLIENT_PRISMCTL_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "client/prismctl/command.h"
#include "client/prismctl/session.h"

namespace prism::prismctl {

// Fills the options of the command of `program` that `arguments` (without the
// program's name) name, sets session.options and runs the command. Usage errors
// go to session.err with a suggestion where a word looks misspelt.
//
// session.options.server is the default for --server: whoever calls takes it
// from the environment.
ExitCode RunCommandLine(const std::vector<std::string>& arguments,
                        const Program& program, Session& session);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_COMMAND_LINE_H_
