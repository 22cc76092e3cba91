#include "client/prismctl/command_run.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "client/prismctl/command_line.h"

namespace prism::prismctl {

CommandRun RunOne(const Command& command, std::vector<std::string> arguments,
                  const std::string& in, const std::string& server) {
  arguments.insert(arguments.begin(), command.name);
  std::istringstream input(in);
  std::ostringstream out;
  std::ostringstream err;
  Session session{input, out, err, {.server = server}, {}, false};
  const ExitCode code =
      RunCommandLine(arguments, {"1.2.3", {command}}, session);
  return {code, out.str(), err.str()};
}

std::string TemporaryFile(const std::string& name, const std::string& text) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string path = absl::StrCat(::testing::TempDir(), getpid(), "-",
                                        test->name(), "-", name);
  std::ofstream(path) << text;
  return path;
}

}  // namespace prism::prismctl
