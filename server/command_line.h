// The command line of prismd.
#ifndef PRISM_SERVER_COMMAND_LINE_H_
#define PRISM_SERVER_COMMAND_LINE_H_

#include <absl/status/statusor.h>

#include <string>
#include <variant>

#include "prism/v1/server_config.pb.h"
#include "server/config.h"

namespace prism::server {

struct CommandLine {
  std::string config_file;  // empty: none
  SettingTexts settings;
  bool check_config = false;
  bool print_config = false;
};

// The exit code, where the process should end: 0 after --help and --version,
// 2 after wrong usage. What there is to say has been printed.
using ExitCode = int;

std::variant<CommandLine, ExitCode> ParseCommandLine(int argc,
                                                     const char* const* argv);

// The configuration that `command_line`, its file and `environment` give.
absl::StatusOr<prism::v1::ServerConfig> LoadConfig(
    const CommandLine& command_line, const char* const* environment);

}  // namespace prism::server

#endif  // PRISM_SERVER_COMMAND_LINE_H_
