// The real prismd, started by a test.
#ifndef PRISM_TESTS_INTEGRATION_PRISMD_PROCESS_H_
#define PRISM_TESTS_INTEGRATION_PRISMD_PROCESS_H_

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace prism::testing {

// Killed at the end of its life, if it still runs.
class PrismdProcess {
 public:
  // Adds free ports to `flags`. Does not wait.
  explicit PrismdProcess(const std::vector<std::string>& flags);
  ~PrismdProcess();
  PrismdProcess(const PrismdProcess&) = delete;
  PrismdProcess& operator=(const PrismdProcess&) = delete;

  // The next line of standard output and error together; empty at the end.
  std::string ReadLine();
  // All lines up to the end.
  std::string ReadAll();
  // Reads up to the line that says where it listens; returns HOST:PORT of
  // "grpc" or "http", or nothing if it ended before.
  void AwaitListening();
  const std::string& grpc_address() const { return grpc_address_; }
  const std::string& http_address() const { return http_address_; }

  void Signal(int signal) const;
  // Waits for its end. The exit code, or minus the signal that ended it.
  int Wait();

 private:
  pid_t pid_ = -1;
  FILE* output_ = nullptr;
  std::string grpc_address_;
  std::string http_address_;
};

}  // namespace prism::testing

#endif  // PRISM_TESTS_INTEGRATION_PRISMD_PROCESS_H_
