// ClusterService over gRPC: the store's face.
//
// Readings are answered at once, from memory. Changes wait, without a thread,
// until the store has them on disk.
#ifndef PRISM_SERVER_CLUSTER_SERVICE_H_
#define PRISM_SERVER_CLUSTER_SERVICE_H_

#include <string>

#include "prism/v1/cluster_service.grpc.pb.h"
#include "server/metrics.h"
#include "server/service_state.h"

namespace prism::server {

// All methods in the raw form of the callback API.
using RawClusterService =
    prism::v1::ClusterService::WithRawCallbackMethod_PutCluster<
        prism::v1::ClusterService::WithRawCallbackMethod_GetCluster<
            prism::v1::ClusterService::WithRawCallbackMethod_ListClusters<
                prism::v1::ClusterService::WithRawCallbackMethod_DeleteCluster<
                    prism::v1::ClusterService::WithRawCallbackMethod_ListNodes<
                        prism::v1::ClusterService::
                            WithRawCallbackMethod_UpdateNodes<
                                prism::v1::ClusterService::Service>>>>>>;

// Thread-safe.
class ClusterService final : public RawClusterService {
 public:
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;
  using Reactor = grpc::ServerUnaryReactor;

  // `state` outlives the service.
  explicit ClusterService(ServiceState& state);

  Reactor* PutCluster(Context* context, const Bytes* request,
                      Bytes* response) override;
  Reactor* GetCluster(Context* context, const Bytes* request,
                      Bytes* response) override;
  Reactor* ListClusters(Context* context, const Bytes* request,
                        Bytes* response) override;
  Reactor* DeleteCluster(Context* context, const Bytes* request,
                         Bytes* response) override;
  Reactor* ListNodes(Context* context, const Bytes* request,
                     Bytes* response) override;
  Reactor* UpdateNodes(Context* context, const Bytes* request,
                       Bytes* response) override;

 private:
  struct Method {
    const char* name;
    MethodMetrics& metrics;
  };

  Method Named(const char* name) const;

  // Answers from memory, with what `answer` makes of the request.
  template <typename Request, typename Answer>
  Reactor* Read(const Method& method, Context* context, const Bytes* request,
                Bytes* response, const Answer& answer);

  // Makes the change that `change` reads from the request, and answers with
  // what `respond` makes of the cluster after it.
  template <typename Request, typename Change, typename Respond>
  Reactor* Write(const Method& method, Context* context, const Bytes* request,
                 Bytes* response, const Change& change, const Respond& respond);

  ServiceState& state_;
  const Method put_;
  const Method get_;
  const Method list_;
  const Method delete_;
  const Method list_nodes_;
  const Method update_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_CLUSTER_SERVICE_H_
