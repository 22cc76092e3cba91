#include "server/rpc_status.h"

#include <absl/strings/str_cat.h>
#include <google/rpc/error_details.pb.h>

namespace prism::server {
namespace {

// The type URL of a payload is that of the google.protobuf.Any it becomes.
template <typename Message>
std::string TypeUrl() {
  return absl::StrCat("type.googleapis.com/",
                      Message::descriptor()->full_name());
}

template <typename Message>
void Attach(const Message& detail, absl::Status& status) {
  status.SetPayload(TypeUrl<Message>(), absl::Cord(detail.SerializeAsString()));
}

template <typename Message>
std::optional<Message> Detail(const absl::Status& status) {
  const auto payload = status.GetPayload(TypeUrl<Message>());
  Message detail;
  if (!payload || !detail.ParseFromString(std::string(*payload))) {
    return std::nullopt;
  }
  return detail;
}

google::rpc::ErrorInfo Info(std::string reason) {
  google::rpc::ErrorInfo info;
  info.set_reason(std::move(reason));
  info.set_domain(kErrorDomain);
  return info;
}

// The codes that tell callers about their own call.
bool IsCallersBusiness(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kUnimplemented:
      return true;
    default:
      return false;
  }
}

std::string BadRequestMessage(const base::Violations& violations) {
  const base::Violation& first = violations.list().front();
  std::string message = absl::StrCat(
      first.field, first.field.empty() ? "" : " ", first.description);
  const size_t more = violations.list().size() - 1 + violations.dropped();
  if (more > 0) absl::StrAppend(&message, " (and ", more, " more)");
  return message;
}

}  // namespace

absl::Status BadRequestError(const base::Violations& violations) {
  google::rpc::BadRequest bad_request;
  for (const base::Violation& violation : violations.list()) {
    auto& field = *bad_request.add_field_violations();
    field.set_field(violation.field);
    field.set_description(violation.description);
  }
  auto info = Info("INVALID_QUESTION");
  const size_t all = violations.list().size() + violations.dropped();
  (*info.mutable_metadata())["violations"] = absl::StrCat(all);

  absl::Status status =
      absl::InvalidArgumentError(BadRequestMessage(violations));
  Attach(bad_request, status);
  Attach(info, status);
  return status;
}

absl::Status MalformedError(std::string_view message_name) {
  absl::Status status = absl::InvalidArgumentError(
      absl::StrCat("the request is not a ",
                   absl::string_view(message_name.data(), message_name.size()),
                   " in the Protobuf wire format"));
  Attach(Info("MALFORMED_MESSAGE"), status);
  return status;
}

absl::Status QueueFullError(absl::Duration retry_after) {
  const int64_t milliseconds = absl::ToInt64Milliseconds(retry_after);
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(milliseconds / 1000);
  retry.mutable_retry_delay()->set_nanos(
      static_cast<int>(milliseconds % 1000 * 1000000));
  google::rpc::QuotaFailure quota;
  auto& violation = *quota.add_violations();
  violation.set_subject("queue");
  violation.set_description("all places for waiting questions are taken");

  absl::Status status = absl::ResourceExhaustedError(
      absl::StrCat("the queue is full; retry in ", milliseconds, " ms"));
  auto info = Info("QUEUE_FULL");
  (*info.mutable_metadata())["retry_milliseconds"] = absl::StrCat(milliseconds);
  Attach(retry, status);
  Attach(quota, status);
  Attach(info, status);
  return status;
}

absl::Status DrainingError() {
  absl::Status status =
      absl::UnavailableError("the server is shutting down; ask another");
  Attach(Info("DRAINING"), status);
  return status;
}

absl::Status DeadlineError() {
  absl::Status status = absl::DeadlineExceededError(
      "the deadline passed before there was an answer");
  Attach(Info("DEADLINE_EXCEEDED"), status);
  return status;
}

absl::Status ClusterNotFoundError(const std::string& name) {
  google::rpc::ResourceInfo resource;
  resource.set_resource_type("prism.v1.Cluster");
  resource.set_resource_name(name);
  resource.set_description("nobody put a cluster of this name");
  auto info = Info("CLUSTER_NOT_FOUND");
  (*info.mutable_metadata())["name"] = name;

  absl::Status status = absl::NotFoundError(
      absl::StrCat("no cluster is stored under the name \"", name, "\""));
  Attach(resource, status);
  Attach(info, status);
  return status;
}

absl::Status EtagError(const std::string& name, const std::string& etag) {
  auto info = Info("ETAG_MISMATCH");
  (*info.mutable_metadata())["name"] = name;
  (*info.mutable_metadata())["etag"] = etag;
  absl::Status status = absl::AbortedError(absl::StrCat(
      "the cluster \"", name, "\" stored does not have the etag \"", etag,
      "\"; read it again"));
  Attach(info, status);
  return status;
}

absl::Status NoDataFolderError() {
  google::rpc::PreconditionFailure failure;
  auto& violation = *failure.add_violations();
  violation.set_type("SETTING");
  violation.set_subject("data_folder");
  violation.set_description("is empty; clusters need one to be kept in");
  absl::Status status = absl::FailedPreconditionError(
      "this server stores no clusters: it runs without data_folder");
  Attach(failure, status);
  Attach(Info("NO_DATA_FOLDER"), status);
  return status;
}

absl::Status PublicStatus(const absl::Status& status,
                          std::string_view request_id) {
  if (status.ok()) return status;
  if (!IsCallersBusiness(status.code())) {
    const std::string id(request_id);
    absl::Status hidden = absl::InternalError(
        absl::StrCat("internal error; the server's log says more under ", id));
    auto info = Info("INTERNAL");
    (*info.mutable_metadata())["request_id"] = id;
    google::rpc::RequestInfo request;
    request.set_request_id(id);
    Attach(info, hidden);
    Attach(request, hidden);
    return hidden;
  }
  absl::Status open = status;
  if (!Detail<google::rpc::ErrorInfo>(open)) {
    Attach(Info(absl::StatusCodeToString(open.code())), open);
  }
  return open;
}

google::rpc::Status ToRpcStatus(const absl::Status& status) {
  google::rpc::Status rpc;
  rpc.set_code(static_cast<int>(status.code()));
  rpc.set_message(std::string(status.message()));
  status.ForEachPayload(
      [&rpc](absl::string_view type_url, const absl::Cord& payload) {
        auto& detail = *rpc.add_details();
        detail.set_type_url(std::string(type_url));
        detail.set_value(std::string(payload));
      });
  return rpc;
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message()),
                      ToRpcStatus(status).SerializeAsString());
}

std::optional<std::string> RetryPushback(const absl::Status& status) {
  const auto retry = Detail<google::rpc::RetryInfo>(status);
  if (!retry) return std::nullopt;
  return absl::StrCat(retry->retry_delay().seconds() * 1000 +
                      retry->retry_delay().nanos() / 1000000);
}

}  // namespace prism::server
