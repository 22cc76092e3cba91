// Runs one command as from a command line, for tests.
#ifndef PRISM_CLIENT_PRISMCTL_COMMAND_RUN_H_
#define PRISM_CLIENT_PRISMCTL_COMMAND_RUN_H_

#include <string>
#include <vector>

#include "client/prismctl/command.h"

namespace prism::prismctl {

struct CommandRun {
  ExitCode code;
  std::string out;
  std::string err;
};

// `arguments` begin after the command's name; `in` is standard input, `server`
// what PRISM_SERVER says.
CommandRun RunOne(const Command& command, std::vector<std::string> arguments,
                  const std::string& in = "", const std::string& server = "");

// Writes `text` to a file of the test's temporary folder whose name ends with
// `name`, and returns its path.
std::string TemporaryFile(const std::string& name, const std::string& text);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_COMMAND_RUN_H_
