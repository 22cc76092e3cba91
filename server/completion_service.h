// CompletionService over gRPC.
#ifndef PRISM_SERVER_COMPLETION_SERVICE_H_
#define PRISM_SERVER_COMPLETION_SERVICE_H_

#include <cstddef>

#include "prism/v1/completion_service.grpc.pb.h"
#include "server/question_method.h"
#include "server/service_state.h"

namespace prism::server {

// Thread-safe.
class CompletionService final : public prism::v1::CompletionService::
                                    WithRawCallbackMethod_ProjectCompletion<
                                        prism::v1::CompletionService::Service> {
 public:
  // `recent_bytes` bounds what is remembered of requests; `state` outlives the
  // service.
  CompletionService(size_t recent_bytes, ServiceState& state);

  grpc::ServerUnaryReactor* ProjectCompletion(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
      grpc::ByteBuffer* response) override {
    return project_.Serve(context, request, response);
  }

 private:
  QuestionMethod project_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_COMPLETION_SERVICE_H_
