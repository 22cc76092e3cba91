#include "server/json_log.h"

#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

namespace prism::server {
namespace {

constexpr size_t kQueuedLines = 8192;
constexpr std::string_view kLevelNames[] = {"debug", "info", "warning",
                                            "error"};

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::string Line(LogLevel level, std::string_view event,
                 const LogFields& fields) {
  nlohmann::ordered_json line;
  line["time"] = absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3SZ", absl::Now(),
                                  absl::UTCTimeZone());
  line["level"] = kLevelNames[static_cast<int>(level)];
  line["event"] = event;
  for (const auto& [name, value] : fields) {
    std::visit([&, &key = name](const auto& v) { line[std::string(key)] = v; },
               value);
  }
  // Text from callers may be any bytes.
  return line.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

LogLevel ParseLogLevel(std::string_view name) {
  for (LogLevel level :
       {LogLevel::kDebug, LogLevel::kWarning, LogLevel::kError}) {
    if (kLevelNames[static_cast<int>(level)] == name) return level;
  }
  return LogLevel::kInfo;
}

class JsonLog::Backend {
 public:
  Backend(LogLevel level, spdlog::sink_ptr sink)
      : threads_(
            std::make_shared<spdlog::details::thread_pool>(kQueuedLines, 1)),
        logger_(std::make_shared<spdlog::async_logger>(
            "prismd", std::move(sink), threads_,
            spdlog::async_overflow_policy::overrun_oldest)) {
    logger_->set_pattern("%v");
    logger_->set_level(SpdlogLevel(level));
    logger_->flush_on(spdlog::level::debug);
  }

  spdlog::logger& logger() { return *logger_; }

 private:
  std::shared_ptr<spdlog::details::thread_pool> threads_;
  std::shared_ptr<spdlog::async_logger> logger_;
};

JsonLog::JsonLog(LogLevel level)
    : backend_(std::make_unique<Backend>(
          level, std::make_shared<spdlog::sinks::stdout_sink_mt>())) {}

JsonLog::JsonLog(LogLevel level, std::ostream& stream)
    : backend_(std::make_unique<Backend>(
          level, std::make_shared<spdlog::sinks::ostream_sink_mt>(stream))) {}

JsonLog::~JsonLog() = default;

void JsonLog::Write(LogLevel level, std::string_view event,
                    const LogFields& fields) {
  const auto spdlog_level = SpdlogLevel(level);
  if (!backend_->logger().should_log(spdlog_level)) return;
  backend_->logger().log(spdlog_level, "{}", Line(level, event, fields));
}

}  // namespace prism::server
