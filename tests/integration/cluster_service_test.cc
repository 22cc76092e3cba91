// ClusterService, and questions that name a stored cluster.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <vector>

#include "core/query/example_questions.h"
#include "prism/v1/cluster_service.grpc.pb.h"
#include "server/temporary_folder.h"
#include "tests/integration/server_fixture.h"

namespace prism::testing {
namespace {

using prism::v1::Cluster;
using prism::v1::ClusterService;
using prism::v1::NodeState;
using prism::v1::Prediction;
using prism::v1::StoredCluster;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

NodeState Slow(uint32_t node, double slowdown) {
  NodeState state;
  state.set_node(node);
  state.set_slowdown(slowdown);
  return state;
}

class ClusterServiceTest : public ServerTest {
 protected:
  void Start() {
    server_.reset();
    StartServer({{"data_folder", folder_.path()}});
    clusters_ = ClusterService::NewStub(channel_);
  }

  // A call of one of the stub's methods.
  template <typename Request, typename Response>
  grpc::Status Call(grpc::Status (ClusterService::Stub::*method)(
                        grpc::ClientContext*, const Request&, Response*),
                    const Request& request, Response* response) {
    grpc::ClientContext context;
    return (clusters_.get()->*method)(&context, request, response);
  }

  grpc::Status Put(const Cluster& cluster, StoredCluster* stored = nullptr,
                   const std::string& etag = "", bool validate_only = false) {
    prism::v1::PutClusterRequest request;
    *request.mutable_cluster() = cluster;
    request.set_etag(etag);
    request.set_validate_only(validate_only);
    StoredCluster ignored;
    return Call(&ClusterService::Stub::PutCluster, request,
                stored == nullptr ? &ignored : stored);
  }

  grpc::Status Get(const std::string& name, StoredCluster* stored) {
    prism::v1::GetClusterRequest request;
    request.set_name(name);
    return Call(&ClusterService::Stub::GetCluster, request, stored);
  }

  grpc::Status Delete(const std::string& name) {
    prism::v1::DeleteClusterRequest request;
    request.set_name(name);
    prism::v1::DeleteClusterResponse response;
    return Call(&ClusterService::Stub::DeleteCluster, request, &response);
  }

  grpc::Status Update(const std::string& name,
                      const std::vector<NodeState>& nodes,
                      const std::string& etag = "") {
    prism::v1::UpdateNodesRequest request;
    request.set_name(name);
    request.set_etag(etag);
    request.mutable_nodes()->Add(nodes.begin(), nodes.end());
    prism::v1::UpdateNodesResponse response;
    return Call(&ClusterService::Stub::UpdateNodes, request, &response);
  }

  // All pages of the list, `size` entries each.
  std::vector<std::string> NamesInPagesOf(uint32_t size) {
    std::vector<std::string> names;
    prism::v1::ListClustersRequest request;
    request.set_page_size(size);
    do {
      prism::v1::ListClustersResponse page;
      const auto status =
          Call(&ClusterService::Stub::ListClusters, request, &page);
      EXPECT_TRUE(status.ok()) << status.error_message();
      EXPECT_LE(page.clusters_size(), static_cast<int>(size));
      for (const auto& cluster : page.clusters()) {
        names.push_back(cluster.name());
      }
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    return names;
  }

  grpc::Status Nodes(const prism::v1::ListNodesRequest& request,
                     prism::v1::ListNodesResponse* page) {
    return Call(&ClusterService::Stub::ListNodes, request, page);
  }

  // The example's cluster, named.
  Cluster Example(const std::string& name = "a") {
    Cluster cluster = query::ExampleJob().cluster();
    cluster.set_name(name);
    return cluster;
  }

  // The example's job, on a cluster that is stored.
  static prism::v1::Question JobOn(const std::string& name) {
    prism::v1::Question question = query::ExampleJob();
    question.clear_cluster();
    question.set_cluster_name(name);
    return question;
  }

  server::TemporaryFolder folder_;
  std::unique_ptr<ClusterService::Stub> clusters_;
};

TEST_F(ClusterServiceTest, WhatWasPutIsThereAfterARestart) {
  Start();
  Cluster cluster = Example();
  *cluster.add_node_states() = Slow(1, 1.5);
  StoredCluster put;
  ASSERT_TRUE(Put(cluster, &put).ok());
  EXPECT_EQ(put.revision(), 1u);
  EXPECT_GT(put.update_time().seconds(), 0);
  Start();
  StoredCluster stored;
  ASSERT_TRUE(Get("a", &stored).ok());
  EXPECT_EQ(stored.SerializeAsString(), put.SerializeAsString());
}

TEST_F(ClusterServiceTest, AWrongClusterIsRefusedWithAllViolations) {
  Start();
  Cluster cluster = Example("No Name");
  cluster.set_nodes(0);
  const grpc::Status status = Put(cluster);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const auto detail = DetailOf<google::rpc::BadRequest>(status);
  ASSERT_TRUE(detail);
  EXPECT_EQ(detail->field_violations(0).field(), "cluster.name");
  EXPECT_EQ(detail->field_violations(1).field(), "cluster.nodes");
}

TEST_F(ClusterServiceTest, ValidatingStoresNothing) {
  Start();
  StoredCluster stored;
  EXPECT_TRUE(Put(Example(), &stored, "", true).ok());
  EXPECT_EQ(stored.revision(), 1u);
  EXPECT_EQ(Get("a", &stored).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Put(Example(), &stored, "other", true).error_code(),
            grpc::StatusCode::ABORTED);
}

TEST_F(ClusterServiceTest, AMissingClusterIsNamed) {
  Start();
  StoredCluster stored;
  for (const grpc::Status& status :
       {Get("gone", &stored), Delete("gone"), Update("gone", {Slow(0, 2)})}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
    const auto resource = DetailOf<google::rpc::ResourceInfo>(status);
    ASSERT_TRUE(resource);
    EXPECT_EQ(resource->resource_name(), "gone");
  }
}

TEST_F(ClusterServiceTest, AnotherEtagAborts) {
  Start();
  ASSERT_TRUE(Put(Example(), nullptr, "-").ok());
  StoredCluster stored;
  ASSERT_TRUE(Get("a", &stored).ok());
  EXPECT_TRUE(Update("a", {Slow(0, 2)}, stored.etag()).ok());
  const grpc::Status status = Update("a", {Slow(0, 3)}, stored.etag());
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status)->reason(),
            "ETAG_MISMATCH");
}

TEST_F(ClusterServiceTest, ListsInPages) {
  Start();
  std::vector<std::string> all;
  for (int i = 0; i < 7; ++i) {
    all.push_back(absl::StrCat("c", i));
    ASSERT_TRUE(Put(Example(all.back())).ok());
  }
  for (uint32_t size : {1u, 3u, 7u, 100u}) EXPECT_EQ(NamesInPagesOf(size), all);
}

TEST_F(ClusterServiceTest, AForeignPageTokenIsAnError) {
  Start();
  ASSERT_TRUE(Put(Example()).ok());
  prism::v1::ListClustersRequest clusters;
  clusters.set_page_token("guess");
  prism::v1::ListClustersResponse page;
  EXPECT_EQ(
      Call(&ClusterService::Stub::ListClusters, clusters, &page).error_code(),
      grpc::StatusCode::INVALID_ARGUMENT);

  prism::v1::ListNodesRequest nodes;
  nodes.set_name("a");
  nodes.set_page_size(1);
  prism::v1::ListNodesResponse first;
  ASSERT_TRUE(Nodes(nodes, &first).ok());
  nodes.set_page_token(first.next_page_token());
  nodes.add_health(prism::v1::HEALTH_FAILED);
  EXPECT_EQ(Nodes(nodes, &first).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ClusterServiceTest, ListsNodesByHealthWithTheirNames) {
  Start();
  Cluster cluster = Example();
  cluster.set_nodes(4);
  for (const char* name : {"w", "x", "y", "z"}) cluster.add_node_names(name);
  ASSERT_TRUE(Put(cluster).ok());
  NodeState drained;
  drained.set_node(2);
  drained.set_health(prism::v1::HEALTH_DRAINED);
  ASSERT_TRUE(Update("a", {drained}).ok());

  prism::v1::ListNodesRequest request;
  request.set_name("a");
  prism::v1::ListNodesResponse all;
  ASSERT_TRUE(Nodes(request, &all).ok());
  ASSERT_THAT(all.nodes(), SizeIs(4));
  EXPECT_THAT(all.node_names(), ElementsAre("w", "x", "y", "z"));
  EXPECT_EQ(all.nodes(0).health(), prism::v1::HEALTH_HEALTHY);

  request.add_health(prism::v1::HEALTH_DRAINED);
  prism::v1::ListNodesResponse some;
  ASSERT_TRUE(Nodes(request, &some).ok());
  EXPECT_THAT(some.node_names(), ElementsAre("y"));
  EXPECT_EQ(some.nodes(0).node(), 2u);
}

TEST_F(ClusterServiceTest, AWrongNodeChangesNothing) {
  Start();
  ASSERT_TRUE(Put(Example()).ok());
  const grpc::Status status = Update("a", {Slow(0, 2), Slow(1000000, 2)});
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const auto detail = DetailOf<google::rpc::BadRequest>(status);
  ASSERT_TRUE(detail);
  EXPECT_EQ(detail->field_violations(0).field(), "nodes[1].node");
  EXPECT_EQ(Update("a", {}).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  StoredCluster stored;
  ASSERT_TRUE(Get("a", &stored).ok());
  EXPECT_EQ(stored.revision(), 1u);
}

TEST_F(ClusterServiceTest, WithoutADataFolderNothingIsStored) {
  StartServer();
  clusters_ = ClusterService::NewStub(channel_);
  for (const grpc::Status& status : {Put(Example()), Delete("a")}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_TRUE(DetailOf<google::rpc::PreconditionFailure>(status));
  }
  Prediction prediction;
  EXPECT_EQ(Ask(JobOn("a"), &prediction).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(ClusterServiceTest, ANamedClusterAnswersAsTheSameOneGiven) {
  Start();
  ASSERT_TRUE(Put(Example()).ok());
  Prediction given;
  ASSERT_TRUE(Ask(query::ExampleJob(), &given).ok());
  EXPECT_EQ(given.cluster_version(), "");
  Prediction named;
  ASSERT_TRUE(Ask(JobOn("a"), &named).ok());
  EXPECT_EQ(named.signature(), given.signature());
  EXPECT_EQ(named.cache(), prism::v1::CACHE_STATUS_HIT);
  EXPECT_THAT(named.cluster_version(), SizeIs(16));
  // From the bytes that are remembered.
  Prediction again;
  ASSERT_TRUE(Ask(JobOn("a"), &again).ok());
  EXPECT_EQ(again.cluster_version(), named.cluster_version());
}

TEST_F(ClusterServiceTest, OnlyChangesThatMatterAreAnotherVersion) {
  Start();
  ASSERT_TRUE(Put(Example()).ok());
  Prediction before;
  ASSERT_TRUE(Ask(JobOn("a"), &before).ok());

  NodeState reason;
  reason.set_node(0);
  reason.set_reason("fan");
  ASSERT_TRUE(Update("a", {reason}).ok());
  Prediction same;
  ASSERT_TRUE(Ask(JobOn("a"), &same).ok());
  EXPECT_EQ(same.cluster_version(), before.cluster_version());
  EXPECT_EQ(same.cache(), prism::v1::CACHE_STATUS_HIT);

  ASSERT_TRUE(Update("a", {Slow(0, 2)}).ok());
  Prediction slow;
  ASSERT_TRUE(Ask(JobOn("a"), &slow).ok());
  EXPECT_NE(slow.cluster_version(), before.cluster_version());
  EXPECT_EQ(slow.cache(), prism::v1::CACHE_STATUS_MISS);
}

TEST_F(ClusterServiceTest, ANameThatNobodyPutIsNotFound) {
  Start();
  Prediction prediction;
  const grpc::Status status = Ask(JobOn("a"), &prediction);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailOf<google::rpc::ResourceInfo>(status)->resource_name(), "a");
}

TEST_F(ClusterServiceTest, ANameBesideAClusterIsAViolation) {
  Start();
  prism::v1::Question question = query::ExampleJob();
  question.set_cluster_name("a");
  Prediction prediction;
  const grpc::Status status = Ask(question, &prediction);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(
      DetailOf<google::rpc::BadRequest>(status)->field_violations(0).field(),
      "questions[0].cluster_name");
}

TEST_F(ClusterServiceTest, StreamsKnowClustersByName) {
  Start();
  ASSERT_TRUE(Put(Example()).ok());
  grpc::ClientContext context;
  auto stream = stub_->PredictStream(&context);
  std::vector<std::string> versions;
  for (const char* name : {"a", "gone", "a"}) {
    prism::v1::PredictStreamRequest request;
    *request.mutable_question() = JobOn(name);
    ASSERT_TRUE(stream->Write(request));
    prism::v1::PredictStreamResponse response;
    ASSERT_TRUE(stream->Read(&response));
    versions.push_back(response.prediction().cluster_version());
    EXPECT_EQ(response.error().code() == grpc::StatusCode::NOT_FOUND,
              std::string(name) == "gone");
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_THAT(versions[0], SizeIs(16));
  EXPECT_THAT(versions[1], IsEmpty());
  EXPECT_EQ(versions[2], versions[0]);
}

TEST_F(ClusterServiceTest, MetricsAndLogSayWhatHappened) {
  Start();
  ASSERT_TRUE(Put(Example()).ok());
  ASSERT_TRUE(Update("a", {Slow(0, 2), Slow(1, 2)}).ok());
  EXPECT_EQ(Metric("prism_clusters"), 1);
  EXPECT_EQ(Metric("prism_node_updates_total"), 2);
  EXPECT_EQ(Metric("prism_cluster_write_seconds_count"), 2);
  EXPECT_GT(Metric("prism_cluster_change_time_seconds"), 1.7e9);
  EXPECT_EQ(Metric("grpc_server_handled_total{grpc_code=\"OK\","
                   "grpc_method=\"UpdateNodes\","
                   "grpc_service=\"prism.v1.ClusterService\","
                   "grpc_type=\"unary\"}"),
            1);
  server_->Drain();
  EXPECT_THAT(log_text_.str(), HasSubstr("\"method\":\"UpdateNodes\""));
}

}  // namespace
}  // namespace prism::testing
