// PredictStreamCall: one call of PredictStream.
//
// Reads ahead up to a window of questions, which are answered in parallel, and
// writes the answers in the order of the questions. A question that fails, for
// whatever reason, gets an answer with the error, and the stream goes on.
#ifndef PRISM_SERVER_PREDICT_STREAM_CALL_H_
#define PRISM_SERVER_PREDICT_STREAM_CALL_H_

#include <absl/status/statusor.h>
#include <absl/time/time.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "server/call_scope.h"
#include "server/metrics.h"
#include "server/request_reader.h"
#include "server/service_state.h"

namespace prism::server {

class PredictStreamCall;

// What all streams share.
struct StreamState {
  ServiceState& service;
  MethodMetrics& metrics;
  RequestReader reader;

  std::mutex mutex;
  std::set<PredictStreamCall*> open;
};

// Keeps itself alive until gRPC is done with it; answers that come later find
// it ended. gRPC and the compute pool call it from their threads.
class PredictStreamCall final
    : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
      public std::enable_shared_from_this<PredictStreamCall> {
 public:
  using Reactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

  // `streams` and `context` live as long as the call.
  static Reactor* Start(StreamState& streams,
                        grpc::CallbackServerContext* context);

  // Reads no more; ends with UNAVAILABLE once what was asked is answered.
  void Drain();

 private:
  // A question that was read and whose answer is not yet written.
  struct Slot {
    explicit Slot(const RequestScope& scope) : request(scope) {}

    RequestScope request;
    std::string cluster_version;
    WaiterId waiter = 0;
    std::optional<grpc::ByteBuffer> answer;
  };
  using SlotPtr = std::shared_ptr<Slot>;

  PredictStreamCall(StreamState& streams, grpc::CallbackServerContext* context);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  void Ask(const SlotPtr& slot);
  void Answered(const SlotPtr& slot, absl::StatusOr<Reply> reply);
  // Requires for both: mutex_ is held.
  void Proceed();  // starts what can be started
  void End(const absl::Status& status);

  StreamState& streams_;
  ServiceState& state_;
  const absl::Time deadline_;
  std::shared_ptr<PredictStreamCall> self_;

  // gRPC runs no reaction inside a call to it, so it may be called under lock.
  std::mutex mutex_;
  CallScope call_;
  std::deque<SlotPtr> slots_;
  grpc::ByteBuffer in_;
  grpc::ByteBuffer out_;
  bool reading_ = false;
  bool writing_ = false;
  bool half_closed_ = false;
  bool ended_ = false;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_PREDICT_STREAM_CALL_H_
