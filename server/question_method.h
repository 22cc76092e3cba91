// QuestionMethod: a unary RPC that answers questions, from the bytes of a
// request to those of the response.
#ifndef PRISM_SERVER_QUESTION_METHOD_H_
#define PRISM_SERVER_QUESTION_METHOD_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <cstddef>

#include "server/metrics.h"
#include "server/question.h"
#include "server/request_reader.h"
#include "server/service_state.h"

namespace prism::server {

// Thread-safe.
class QuestionMethod {
 public:
  // `recent_bytes` bounds what is remembered of requests; `state` outlives the
  // method.
  QuestionMethod(ServiceState& state, const MethodName& name, ReadRequest read,
                 size_t recent_bytes);

  // Serves one call, as the methods of a raw callback service do.
  grpc::ServerUnaryReactor* Serve(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response);

 private:
  ServiceState& state_;
  const MethodName name_;
  MethodMetrics& metrics_;
  RequestReader reader_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_QUESTION_METHOD_H_
