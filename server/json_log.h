// JsonLog: the server's log, one JSON object a line on standard output.
//
//   {"time":"2024-05-01T10:00:00.123Z","level":"info","event":"listening",...}
//
// Writing never waits for the reader of the log: lines go through a bounded
// queue to one thread, and the oldest are dropped when it is full.
// Thread-safe.
#ifndef PRISM_SERVER_JSON_LOG_H_
#define PRISM_SERVER_JSON_LOG_H_

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace prism::server {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// "debug", "info", "warning" or "error"; anything else is kInfo.
LogLevel ParseLogLevel(std::string_view name);

// In the order they are written.
using LogFields = std::vector<
    std::pair<std::string_view, std::variant<std::string, int64_t, double>>>;

class JsonLog {
 public:
  // Drops what is below `level`.
  explicit JsonLog(LogLevel level);
  // Writes to `stream`, which outlives the log: for tests.
  JsonLog(LogLevel level, std::ostream& stream);
  // Writes out what is queued.
  ~JsonLog();

  void Write(LogLevel level, std::string_view event, const LogFields& fields);

 private:
  class Backend;
  std::unique_ptr<Backend> backend_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_JSON_LOG_H_
