#include "tests/integration/cli_test_process.h"

#include <absl/time/clock.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace prism::testing {
namespace {

std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void Redirect(const std::string& path, int flags, int fd) {
  const int file = open(path.c_str(), flags, 0600);
  if (file < 0 || dup2(file, fd) < 0) _exit(126);
}

void SetServer(const std::string& server) {
  unsetenv("PRISM_SERVER");
  if (!server.empty()) setenv("PRISM_SERVER", server.c_str(), 1);
}

// Starts `program` with its standard streams on files. Does not wait.
pid_t Start(const std::string& program,
            const std::vector<std::string>& arguments,
            const std::string& in_file, const std::string& out_file,
            const std::string& err_file, const std::string& server = "") {
  const std::string path = std::string(PRISM_BINARY_DIR) + "/" + program;
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  SetServer(server);
  Redirect(in_file, O_RDONLY, STDIN_FILENO);
  Redirect(out_file, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  Redirect(err_file, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
  execv(path.c_str(), argv.data());
  _exit(127);
}

bool HasEnded(pid_t pid) {
  siginfo_t info = {};
  waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_pid == pid;
}

int Wait(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A port that nobody uses: the system's choice for a socket that is closed
// again.
int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

bool Accepts(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = Loopback(port);
  const bool connected =
      connect(fd, reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) == 0;
  close(fd);
  return connected;
}

}  // namespace

std::string WriteFile(const std::string& name, const std::string& text) {
  static std::atomic<int> count{0};
  const std::string path = ::testing::TempDir() + std::to_string(getpid()) +
                           "-" + std::to_string(++count) + "-" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

Finished Prismctl(const std::vector<std::string>& arguments,
                  const std::string& in, const std::string& server) {
  const std::string in_file = WriteFile("in", in);
  const std::string out_file = WriteFile("out", "");
  const std::string err_file = WriteFile("err", "");
  Finished finished;
  finished.exit_code =
      Wait(Start("prismctl", arguments, in_file, out_file, err_file, server));
  finished.out = FileText(out_file);
  finished.err = FileText(err_file);
  for (const std::string& file : {in_file, out_file, err_file}) {
    unlink(file.c_str());
  }
  return finished;
}

std::string JsonValue(const std::string& json, const std::string& key) {
  const std::string quoted = "\"" + key + "\": ";
  const size_t found = json.find(quoted);
  if (found == std::string::npos) return "";
  const size_t start = found + quoted.size();
  if (json[start] != '{') {
    return json.substr(start, json.find_first_of(",\n}", start) - start);
  }
  size_t end = start;
  int depth = 0;
  do {
    if (json[end] == '{') ++depth;
    if (json[end] == '}') --depth;
    ++end;
  } while (depth > 0 && end < json.size());
  return json.substr(start, end - start);
}

RunningServer::RunningServer(const std::vector<std::string>& flags) {
  const int port = FreePort();
  address_ = "127.0.0.1:" + std::to_string(port);
  std::vector<std::string> arguments = {
      "--listen", address_, "--http", "127.0.0.1:0", "--drain_notice_seconds",
      "0"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  const std::string log = WriteFile("prismd.log", "");
  pid_ = Start("prismd", arguments, "/dev/null", log, log + ".err");
  const absl::Time give_up = absl::Now() + absl::Seconds(30);
  while (!Accepts(port) && !HasEnded(pid_) && absl::Now() < give_up) {
    absl::SleepFor(absl::Milliseconds(20));
  }
  EXPECT_TRUE(Accepts(port)) << FileText(log) << FileText(log + ".err");
}

RunningServer::~RunningServer() {
  kill(pid_, SIGTERM);
  EXPECT_EQ(Wait(pid_), 0);
}

}  // namespace prism::testing
