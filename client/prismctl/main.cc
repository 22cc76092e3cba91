#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "client/prismctl/command_line.h"
#include "client/prismctl/commands.h"
#include "client/render/terminal.h"
#include "core/query/question.h"

namespace {

using prism::prismctl::Session;

std::string ServerOfEnvironment() {
  const char* server = std::getenv("PRISM_SERVER");
  return server == nullptr ? "" : server;
}

std::string Version() {
  return absl::StrCat(PRISM_VERSION, " (model ", prism::query::ModelVersion(),
                      ")");
}

}  // namespace

int main(int argc, char** argv) {
  namespace render = prism::render;
  Session session{.in = std::cin,
                  .out = std::cout,
                  .err = std::cerr,
                  .options = {.server = ServerOfEnvironment()},
                  .out_terminal = render::Capabilities(
                      render::SurroundingsOf(STDOUT_FILENO)),
                  .err_is_terminal = isatty(STDERR_FILENO) == 1};
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const int code = prism::prismctl::RunCommandLine(
      arguments, {Version(), prism::prismctl::AllCommands()}, session);
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "prismctl: cannot write the answer\n";
    return prism::prismctl::kInternalError;
  }
  return code;
}
