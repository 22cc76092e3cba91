// Runs the built binaries as a user would, for the command line's tests.
#ifndef PRISM_TESTS_INTEGRATION_CLI_TEST_PROCESS_H_
#define PRISM_TESTS_INTEGRATION_CLI_TEST_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace prism::testing {

struct Finished {
  int exit_code = -1;  // -1: it did not exit by itself
  std::string out;
  std::string err;
};

// Runs prismctl to its end with `in` as standard input, and with `server` as
// PRISM_SERVER in its environment or, if empty, without one.
Finished Prismctl(const std::vector<std::string>& arguments,
                  const std::string& in = "", const std::string& server = "");

// Writes `text` to a new file of the test's temporary folder, whose name ends
// with `name`, and returns its path.
std::string WriteFile(const std::string& name, const std::string& text);

// The value of `"key": ` in `json`, as it is written there, for an object or a
// plain value; empty where there is none.
std::string JsonValue(const std::string& json, const std::string& key);

// A prismd of its own on a port of the loopback interface, stopped at the end.
class RunningServer {
 public:
  // Starts it and waits until it accepts connections; fails the test if it
  // does not within 30 s.
  explicit RunningServer(const std::vector<std::string>& flags = {});
  ~RunningServer();
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  const std::string& address() const { return address_; }

 private:
  pid_t pid_ = -1;
  std::string address_;
};

}  // namespace prism::testing

#endif  // PRISM_TESTS_INTEGRATION_CLI_TEST_PROCESS_H_
