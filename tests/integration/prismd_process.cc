#include "tests/integration/prismd_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace prism::testing {
namespace {

// The value of `"key":"value"` in a line of the log.
std::string Value(const std::string& line, const std::string& key) {
  const std::string quoted = "\"" + key + "\":\"";
  const size_t at = line.find(quoted);
  if (at == std::string::npos) return "";
  const size_t begin = at + quoted.size();
  return line.substr(begin, line.find('"', begin) - begin);
}

}  // namespace

PrismdProcess::PrismdProcess(const std::vector<std::string>& flags) {
  const std::string path = std::string(PRISM_BINARY_DIR) + "/prismd";
  std::vector<std::string> arguments = {path, "--listen=127.0.0.1:0",
                                        "--http=127.0.0.1:0"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe(ends), 0);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    execv(path.c_str(), argv.data());
    _exit(127);
  }
  close(ends[1]);
  output_ = fdopen(ends[0], "r");
}

PrismdProcess::~PrismdProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    Wait();
  }
  std::fclose(output_);
}

std::string PrismdProcess::ReadLine() {
  std::string line;
  for (int c; (c = std::fgetc(output_)) != EOF;) {
    line += static_cast<char>(c);
    if (c == '\n') break;
  }
  return line;
}

std::string PrismdProcess::ReadAll() {
  std::string all;
  for (std::string line; !(line = ReadLine()).empty();) all += line;
  return all;
}

void PrismdProcess::AwaitListening() {
  for (std::string line; !(line = ReadLine()).empty();) {
    if (Value(line, "event") != "listening") continue;
    grpc_address_ = Value(line, "grpc");
    http_address_ = Value(line, "http");
    return;
  }
  ADD_FAILURE() << "prismd ended before it listened";
}

void PrismdProcess::Signal(int signal) const { kill(pid_, signal); }

int PrismdProcess::Wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace prism::testing
