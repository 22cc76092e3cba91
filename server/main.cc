// prismd: serves predictions until SIGTERM.
//
// Exit status: 0 after a drain, 1 if the configuration is wrong or an address
// taken, 2 after wrong usage, 128 + signal after a second signal.
#include <unistd.h>

#include <iostream>
#include <variant>

#include "core/query/document.h"
#include "core/query/predict.h"
#include "server/command_line.h"
#include "server/json_log.h"
#include "server/lifecycle.h"
#include "server/server.h"

namespace {

using prism::server::CommandLine;
using prism::server::ExitCode;

ExitCode Fail(const absl::Status& status) {
  std::cerr << "prismd: " << status.message() << "\n";
  return 1;
}

ExitCode Serve(const prism::v1::ServerConfig& config) {
  prism::server::BlockStopSignals();
  prism::server::JsonLog log(prism::server::ParseLogLevel(config.log_level()));
  auto server =
      prism::server::Server::Start(config, prism::query::Predict, log);
  if (!server.ok()) return Fail(server.status());
  prism::server::AwaitStopSignal();
  prism::server::SecondSignalEnds impatience;
  (*server)->Drain();
  server->reset();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto parsed = prism::server::ParseCommandLine(argc, argv);
  if (const auto* code = std::get_if<ExitCode>(&parsed)) return *code;
  const auto& command_line = std::get<CommandLine>(parsed);
  const auto config = prism::server::LoadConfig(command_line, environ);
  if (!config.ok()) return Fail(config.status());
  if (command_line.print_config) {
    std::cout << prism::query::WriteYaml(*config);
    return 0;
  }
  if (command_line.check_config) {
    std::cout << "the configuration is right\n";
    return 0;
  }
  return Serve(*config);
}
