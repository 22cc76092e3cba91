#include "server/request_log.h"

#include <google/protobuf/generated_enum_reflection.h>

#include <utility>

#include "core/query/document_names.h"

namespace prism::server {
namespace {

template <typename Enum>
std::string Word(Enum value) {
  const auto* found =
      google::protobuf::GetEnumDescriptor<Enum>()->FindValueByNumber(value);
  return found == nullptr ? "" : query::EnumWord(*found);
}

LogLevel LevelOf(const RequestRecord& record, bool slow) {
  switch (record.status.code()) {
    case absl::StatusCode::kOk:
      return slow ? LogLevel::kWarning : LogLevel::kInfo;
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnavailable:
      return LogLevel::kWarning;
    default:
      return LogLevel::kError;
  }
}

LogFields FieldsOf(const RequestRecord& record) {
  LogFields fields = {
      {"method", std::string(record.method)},
      {"prediction_id", std::string(record.prediction_id)},
      {"code", absl::StatusCodeToString(record.status.code())},
      {"latency_seconds", record.latency_seconds},
      {"questions", record.questions},
  };
  if (!record.status.ok()) {
    fields.push_back({"error", std::string(record.status.message())});
  } else if (record.questions > 0) {
    fields.push_back({"signature", std::string(record.signature)});
    fields.push_back({"cache", Word(record.cache)});
    fields.push_back({"quality", Word(record.quality)});
  }
  return fields;
}

}  // namespace

void RequestLog::Write(const RequestRecord& record) {
  const bool slow = record.latency_seconds >= options_.slow_seconds;
  if (record.status.ok() && !slow && !Sampled(record.end)) return;
  LogFields fields = FieldsOf(record);
  if (const int64_t left_out = left_out_.exchange(0); left_out > 0) {
    fields.push_back({"left_out", left_out});
  }
  log_.Write(LevelOf(record, slow), "request", fields);
}

bool RequestLog::Sampled(absl::Time now) {
  const int64_t second = absl::ToUnixSeconds(now);
  if (second_.exchange(second) != second) logged_ = 0;
  if (logged_.fetch_add(1) < options_.successes_per_second) return true;
  left_out_.fetch_add(1);
  return false;
}

}  // namespace prism::server
