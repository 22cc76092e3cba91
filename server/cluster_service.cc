#include "server/cluster_service.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/query/check_cluster.h"
#include "server/page_token.h"
#include "server/plain_call.h"
#include "server/question_kind.h"
#include "server/rpc_status.h"
#include "server/wire.h"

namespace prism::server {
namespace {

using prism::v1::ClusterSummary;
using prism::v1::DeleteClusterRequest;
using prism::v1::DeleteClusterResponse;
using prism::v1::GetClusterRequest;
using prism::v1::ListClustersRequest;
using prism::v1::ListClustersResponse;
using prism::v1::ListNodesRequest;
using prism::v1::ListNodesResponse;
using prism::v1::NodeState;
using prism::v1::PutClusterRequest;
using prism::v1::StoredCluster;
using prism::v1::UpdateNodesRequest;
using prism::v1::UpdateNodesResponse;

using Bytes = grpc::ByteBuffer;

constexpr uint32_t kClustersPerPage = 100;
constexpr uint32_t kMostClustersPerPage = 1000;
constexpr uint32_t kNodesPerPage = 1000;
constexpr uint32_t kMostNodesPerPage = 10000;
constexpr int kMostNodesPerUpdate = 10000;

// `wanted`, or `usual` where it is 0, but not above `most`.
uint32_t PageSize(uint32_t wanted, uint32_t usual, uint32_t most) {
  return wanted == 0 ? usual : std::min(wanted, most);
}

absl::Status WrongToken() {
  base::Violations violations;
  violations.Add("page_token",
                 "is no next_page_token of this list; leave it empty to begin");
  return BadRequestError(violations);
}

// The position in `token`, empty at the start of the list `query`.
absl::StatusOr<std::string> PositionOf(const std::string& query,
                                       const std::string& token) {
  if (token.empty()) return std::string();
  auto position = ReadPageToken(query, token);
  if (!position) return WrongToken();
  return *std::move(position);
}

// The request in `bytes`, where calls are taken.
template <typename Request>
absl::StatusOr<Request> Receive(const ServiceState& state, const Bytes& bytes) {
  if (state.draining) return DrainingError();
  auto request = Parse<Request>(server::Bytes(OnePiece(bytes)));
  if (request.ok() && state.clusters == nullptr) return NoDataFolderError();
  return request;
}

absl::StatusOr<ClusterSnapshotPtr> FindCluster(const ServiceState& state,
                                               const std::string& name) {
  auto snapshot = state.clusters->Find(name);
  if (snapshot == nullptr) return ClusterNotFoundError(name);
  return snapshot;
}

absl::StatusOr<ListClustersResponse> List(const ServiceState& state,
                                          const ListClustersRequest& request) {
  const std::string query = "ListClusters";
  const auto after = PositionOf(query, request.page_token());
  if (!after.ok()) return after.status();
  const size_t size =
      PageSize(request.page_size(), kClustersPerPage, kMostClustersPerPage);
  // One more tells whether this page is the last.
  const auto clusters = state.clusters->List(*after, size + 1);
  ListClustersResponse response;
  for (size_t i = 0; i < std::min(size, clusters.size()); ++i) {
    *response.add_clusters() = clusters[i]->Summary();
  }
  if (clusters.size() > size) {
    response.set_next_page_token(
        MakePageToken(query, clusters[size - 1]->record().name));
  }
  return response;
}

NodeState StateOf(const ClusterRecord& record, uint32_t node) {
  const NodeState* stored = record.node_states.Find(node);
  NodeState state;
  if (stored != nullptr) state = *stored;
  state.set_node(node);
  state.set_health(HealthOf(stored));
  return state;
}

bool Wanted(const ListNodesRequest& request, prism::v1::Health health) {
  const auto& wanted = request.health();
  return wanted.empty() ||
         std::find(wanted.begin(), wanted.end(), health) != wanted.end();
}

absl::StatusOr<ListNodesResponse> ListNodesOf(const ClusterRecord& record,
                                              const ListNodesRequest& request) {
  ListNodesRequest what = request;
  what.clear_page_size();
  what.clear_page_token();
  const std::string query = absl::StrCat("ListNodes", what.SerializeAsString());
  const auto position = PositionOf(query, request.page_token());
  if (!position.ok()) return position.status();
  uint32_t node = 0;
  if (!position->empty() && !absl::SimpleAtoi(*position, &node)) {
    return WrongToken();
  }
  const int size = static_cast<int>(
      PageSize(request.page_size(), kNodesPerPage, kMostNodesPerPage));
  const auto& base = *record.base;
  ListNodesResponse response;
  response.set_etag(record.etag);
  for (; node < base.nodes(); ++node) {
    const auto health = HealthOf(record.node_states.Find(node));
    if (!Wanted(request, health)) continue;
    if (response.nodes_size() == size) {
      response.set_next_page_token(MakePageToken(query, absl::StrCat(node)));
      return response;
    }
    *response.add_nodes() = StateOf(record, node);
    if (static_cast<int>(node) < base.node_names_size()) {
      response.add_node_names(base.node_names(static_cast<int>(node)));
    }
  }
  return response;
}

// What is asked of the store. A change that is only to be tried is not made.
struct WantedChange {
  ClusterChange change;
  bool try_only = false;
};

absl::StatusOr<WantedChange> PutOf(PutClusterRequest& request) {
  const base::Violations violations = query::CheckCluster(request.cluster());
  if (!violations.empty()) return BadRequestError(violations);
  return WantedChange{
      {request.cluster().name(), request.etag(),
       ClusterChange::Put{std::move(*request.mutable_cluster())}},
      request.validate_only()};
}

absl::StatusOr<WantedChange> DeleteOf(DeleteClusterRequest& request) {
  return WantedChange{
      {request.name(), request.etag(), ClusterChange::Delete{}}};
}

absl::StatusOr<WantedChange> UpdateOf(UpdateNodesRequest& request) {
  const int count = request.nodes_size();
  if (count < 1 || count > kMostNodesPerUpdate) {
    base::Violations violations;
    violations.Add("nodes",
                   absl::StrCat("has ", count, " nodes; must have 1 to ",
                                kMostNodesPerUpdate));
    return BadRequestError(violations);
  }
  return WantedChange{
      {request.name(), request.etag(),
       ClusterChange::UpdateNodes{std::move(*request.mutable_nodes())}}};
}

StoredCluster StoredOf(const ClusterSnapshot& snapshot) {
  return snapshot.Stored();
}

UpdateNodesResponse UpdatedOf(const ClusterSnapshot& snapshot) {
  UpdateNodesResponse updated;
  updated.set_etag(snapshot.record().etag);
  updated.set_revision(snapshot.record().revision);
  return updated;
}

}  // namespace

ClusterService::ClusterService(ServiceState& state)
    : state_(state),
      put_(Named("PutCluster")),
      get_(Named("GetCluster")),
      list_(Named("ListClusters")),
      delete_(Named("DeleteCluster")),
      list_nodes_(Named("ListNodes")),
      update_(Named("UpdateNodes")) {}

ClusterService::Method ClusterService::Named(const char* name) const {
  return {name, state_.tools.metrics.AddMethod(
                    {prism::v1::ClusterService::service_full_name(), name})};
}

template <typename Request, typename Answer>
ClusterService::Reactor* ClusterService::Read(const Method& method,
                                              Context* context,
                                              const Bytes* bytes,
                                              Bytes* response,
                                              const Answer& answer) {
  PlainCall call(state_.tools, method.metrics, method.name, context, response);
  const auto request = Receive<Request>(state_, *bytes);
  if (request.ok()) {
    call.End(answer(*request));
  } else {
    call.Fail(request.status());
  }
  return call.reactor();
}

template <typename Request, typename Change, typename Respond>
ClusterService::Reactor* ClusterService::Write(
    const Method& method, Context* context, const Bytes* bytes, Bytes* response,
    const Change& change, const Respond& respond) {
  auto call = std::make_shared<PlainCall>(state_.tools, method.metrics,
                                          method.name, context, response);
  auto done = [call, respond](const absl::StatusOr<ClusterSnapshotPtr>& made) {
    if (!made.ok()) return call->Fail(made.status());
    call->End(respond(**made));
  };
  auto request = Receive<Request>(state_, *bytes);
  if (!request.ok()) {
    done(request.status());
    return call->reactor();
  }
  absl::StatusOr<WantedChange> wanted = change(*request);
  if (!wanted.ok()) {
    done(wanted.status());
  } else if (wanted->try_only) {
    done(state_.clusters->Preview(wanted->change));
  } else {
    state_.clusters->Apply(std::move(wanted->change), std::move(done));
  }
  return call->reactor();
}

ClusterService::Reactor* ClusterService::PutCluster(Context* context,
                                                    const Bytes* request,
                                                    Bytes* response) {
  return Write<PutClusterRequest>(put_, context, request, response, PutOf,
                                  StoredOf);
}

ClusterService::Reactor* ClusterService::GetCluster(Context* context,
                                                    const Bytes* request,
                                                    Bytes* response) {
  return Read<GetClusterRequest>(
      get_, context, request, response,
      [this](const GetClusterRequest& wanted) -> absl::StatusOr<StoredCluster> {
        const auto snapshot = FindCluster(state_, wanted.name());
        if (!snapshot.ok()) return snapshot.status();
        return (*snapshot)->Stored();
      });
}

ClusterService::Reactor* ClusterService::ListClusters(Context* context,
                                                      const Bytes* request,
                                                      Bytes* response) {
  return Read<ListClustersRequest>(list_, context, request, response,
                                   [this](const ListClustersRequest& wanted) {
                                     return List(state_, wanted);
                                   });
}

ClusterService::Reactor* ClusterService::DeleteCluster(Context* context,
                                                       const Bytes* request,
                                                       Bytes* response) {
  return Write<DeleteClusterRequest>(
      delete_, context, request, response, DeleteOf,
      [](const ClusterSnapshot&) { return DeleteClusterResponse(); });
}

ClusterService::Reactor* ClusterService::ListNodes(Context* context,
                                                   const Bytes* request,
                                                   Bytes* response) {
  return Read<ListNodesRequest>(
      list_nodes_, context, request, response,
      [this](
          const ListNodesRequest& wanted) -> absl::StatusOr<ListNodesResponse> {
        const auto snapshot = FindCluster(state_, wanted.name());
        if (!snapshot.ok()) return snapshot.status();
        return ListNodesOf((*snapshot)->record(), wanted);
      });
}

ClusterService::Reactor* ClusterService::UpdateNodes(Context* context,
                                                     const Bytes* request,
                                                     Bytes* response) {
  return Write<UpdateNodesRequest>(update_, context, request, response,
                                   UpdateOf, UpdatedOf);
}

}  // namespace prism::server
