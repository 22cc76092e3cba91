// TimelineService over gRPC.
#ifndef PRISM_SERVER_TIMELINE_SERVICE_H_
#define PRISM_SERVER_TIMELINE_SERVICE_H_

#include <cstddef>

#include "prism/v1/timeline.grpc.pb.h"
#include "server/question_method.h"
#include "server/service_state.h"

namespace prism::server {

// Thread-safe.
class TimelineService final
    : public prism::v1::TimelineService::WithRawCallbackMethod_RecordTimeline<
          prism::v1::TimelineService::Service> {
 public:
  // `recent_bytes` bounds what is remembered of requests; `state` outlives the
  // service.
  TimelineService(size_t recent_bytes, ServiceState& state);

  grpc::ServerUnaryReactor* RecordTimeline(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
      grpc::ByteBuffer* response) override {
    return record_.Serve(context, request, response);
  }

 private:
  QuestionMethod record_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_TIMELINE_SERVICE_H_
