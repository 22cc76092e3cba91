// PlacementService over gRPC.
#ifndef PRISM_SERVER_PLACEMENT_SERVICE_H_
#define PRISM_SERVER_PLACEMENT_SERVICE_H_

#include <cstddef>

#include "prism/v1/placement_service.grpc.pb.h"
#include "server/question_method.h"
#include "server/service_state.h"

namespace prism::server {

// Thread-safe.
class PlacementService final
    : public prism::v1::PlacementService::WithRawCallbackMethod_ScorePlacements<
          prism::v1::PlacementService::WithRawCallbackMethod_OptimizePlacement<
              prism::v1::PlacementService::WithRawCallbackMethod_RankNodes<
                  prism::v1::PlacementService::Service>>> {
 public:
  // `recent_bytes` bounds what is remembered of requests; `state` outlives the
  // service.
  PlacementService(size_t recent_bytes, ServiceState& state);

  grpc::ServerUnaryReactor* ScorePlacements(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
      grpc::ByteBuffer* response) override {
    return score_.Serve(context, request, response);
  }

  grpc::ServerUnaryReactor* OptimizePlacement(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
      grpc::ByteBuffer* response) override {
    return optimize_.Serve(context, request, response);
  }

  grpc::ServerUnaryReactor* RankNodes(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override {
    return rank_.Serve(context, request, response);
  }

 private:
  QuestionMethod score_;
  QuestionMethod optimize_;
  QuestionMethod rank_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_PLACEMENT_SERVICE_H_
