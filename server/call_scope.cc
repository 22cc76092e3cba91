#include "server/call_scope.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <grpcpp/server_context.h>

#include <cstring>
#include <random>

#include "server/rpc_status.h"
#include "server/wire.h"
#include "server/wire_fields.h"

namespace prism::server {
namespace {

// An answer and what belongs to this reply alone, as serialised messages.
struct Part {
  const Answer& answer;
  std::string provenance;

  bool is_item() const { return answer.place == ProvenancePlace::kOwnFields; }
  // What is in field 1: the whole item, or the provenance.
  size_t field_size() const {
    return provenance.size() + (is_item() ? answer.bytes.size() : 0);
  }
  size_t size() const {
    return Field1HeadSize(field_size()) + answer.bytes.size() +
           provenance.size();
  }
};

uint8_t* Copy(const std::string& bytes, uint8_t* to) {
  std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

uint8_t* Write(const Part& part, uint8_t* to) {
  if (!part.is_item()) to = Copy(part.answer.bytes, to);
  to = WriteField1Head(part.field_size(), to);
  if (part.is_item()) to = Copy(part.answer.bytes, to);
  return Copy(part.provenance, to);
}

grpc::ByteBuffer Joined(const std::vector<Part>& parts) {
  size_t size = 0;
  for (const Part& part : parts) size += part.size();
  grpc::Slice slice(size);
  uint8_t* to = MutableBytes(slice);
  for (const Part& part : parts) to = Write(part, to);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace

IdSource::IdSource() {
  std::random_device random;
  const uint64_t high = random();
  prefix_ = absl::StrFormat("%016x-", high << 32 | random());
}

std::string IdSource::Next() {
  return absl::StrCat(prefix_, absl::Hex(next_.fetch_add(1)));
}

CallScope::CallScope(CallTools& tools, MethodMetrics& method)
    : tools_(tools), method_(method), start_(tools.clock()) {
  method_.Started();
  tools_.metrics.requests_in_flight.Increment();
}

void CallScope::End(absl::StatusCode code) {
  tools_.metrics.requests_in_flight.Decrement();
  method_.Handled(code, absl::ToDoubleSeconds(tools_.clock() - start_));
}

void FinishCall(const absl::Status& status, CallScope& scope,
                grpc::CallbackServerContext& context,
                grpc::ServerUnaryReactor& reactor) {
  if (const auto pushback = RetryPushback(status)) {
    context.AddTrailingMetadata("grpc-retry-pushback-ms", *pushback);
  }
  scope.End(status.code());
  reactor.Finish(ToGrpcStatus(status));
}

grpc::ByteBuffer RequestScope::Succeed(const std::vector<Reply>& replies) {
  std::vector<Part> parts;
  parts.reserve(replies.size());
  std::string first_id;
  prism::v1::Provenance provenance;
  for (const Reply& reply : replies) {
    provenance.set_prediction_id(tools_->ids.Next());
    provenance.set_cache(reply.cache);
    provenance.set_cluster_version(reply.cluster_version);
    parts.push_back({*reply.answer, provenance.SerializeAsString()});
    tools_->metrics.CountPrediction(reply.answer->quality);
    if (first_id.empty()) first_id = provenance.prediction_id();
  }
  RequestRecord record = Record(first_id);
  record.signature = replies.front().answer->signature;
  record.cache = replies.front().cache;
  record.quality = replies.front().answer->quality;
  record.questions = static_cast<int64_t>(replies.size());
  tools_->log.Write(record);
  return Joined(parts);
}

void RequestScope::Succeed() {
  const std::string id = tools_->ids.Next();
  tools_->log.Write(Record(id));
}

absl::Status RequestScope::Fail(const absl::Status& status) {
  const std::string id = tools_->ids.Next();
  RequestRecord record = Record(id);
  record.status = status;
  tools_->log.Write(record);
  return PublicStatus(status, id);
}

RequestRecord RequestScope::Record(std::string_view id) const {
  RequestRecord record;
  record.method = method_;
  record.prediction_id = id;
  record.end = tools_->clock();
  record.latency_seconds = absl::ToDoubleSeconds(record.end - start_);
  return record;
}

}  // namespace prism::server
