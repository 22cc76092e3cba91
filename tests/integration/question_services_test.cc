// PlacementService and CompletionService over gRPC: cache, clusters by name,
// errors, deadlines, metrics.
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>
#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/base/violations.h"
#include "core/query/document.h"
#include "prism/v1/cluster_service.grpc.pb.h"
#include "prism/v1/completion_service.grpc.pb.h"
#include "prism/v1/explain_service.grpc.pb.h"
#include "prism/v1/placement_service.grpc.pb.h"
#include "prism/v1/timeline.grpc.pb.h"
#include "server/temporary_folder.h"
#include "tests/integration/server_fixture.h"

namespace prism::testing {
namespace {

using prism::v1::ClusterService;
using prism::v1::CompletionService;
using prism::v1::ExplainService;
using prism::v1::ExplainVariabilityRequest;
using prism::v1::ExplainVariabilityResponse;
using prism::v1::NodeState;
using prism::v1::OptimizePlacementRequest;
using prism::v1::OptimizePlacementResponse;
using prism::v1::PlacementService;
using prism::v1::ProjectCompletionRequest;
using prism::v1::ProjectCompletionResponse;
using prism::v1::RankNodesRequest;
using prism::v1::RankNodesResponse;
using prism::v1::RecordTimelineRequest;
using prism::v1::RecordTimelineResponse;
using prism::v1::ScorePlacementsRequest;
using prism::v1::ScorePlacementsResponse;
using prism::v1::TimelineService;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

// Two nodes of six.
constexpr char kJob[] =
    "job:\n"
    "  model: {layers: 8, hidden: 2048, heads: 16, vocabulary: 51200}\n"
    "  parallelism: {tensor: 8, data: 2}\n"
    "  training: {sequence: 2048, global_batch: 16, micro_batch: 2}\n";

constexpr char kCluster[] =
    "name: lab\n"
    "accelerator: a100-80gb-sxm\n"
    "nodes: 6\n"
    "node_states:\n"
    "  - {node: 0, slowdown: 1}\n"
    "  - {node: 1, slowdown: 1}\n"
    "  - {node: 2, slowdown: 1}\n"
    "  - {node: 3, slowdown: 1}\n";

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  base::Violations violations;
  query::ReadDocument(text, &message, violations);
  for (const auto& violation : violations.list()) {
    ADD_FAILURE() << violation.field << ": " << violation.description;
  }
  return message;
}

prism::v1::Cluster Lab() { return Parse<prism::v1::Cluster>(kCluster); }

// The job on the lab, with `more` of the request.
template <typename Request>
Request OnLab(const std::string& more = "") {
  auto request = Parse<Request>(kJob + more);
  *request.mutable_cluster() = Lab();
  return request;
}

// The same by the cluster's name.
template <typename Request>
Request OnStoredLab(const std::string& more = "") {
  return Parse<Request>(absl::StrCat(kJob, "cluster_name: lab\n", more));
}

constexpr char kCandidates[] = "placements: [{nodes: [0, 1]}, {nodes: [1, 2]}]";
constexpr char kRun[] = "run: {steps: 1000}\n";

NodeState Slow(uint32_t node, double slowdown) {
  NodeState state;
  state.set_node(node);
  state.set_slowdown(slowdown);
  return state;
}

class QuestionServicesTest : public ServerTest {
 protected:
  QuestionServicesTest() {
    StartServer({{"data_folder", folder_.path()}});
    placements_ = PlacementService::NewStub(channel_);
    completions_ = CompletionService::NewStub(channel_);
    timelines_ = TimelineService::NewStub(channel_);
    explanations_ = ExplainService::NewStub(channel_);
    clusters_ = ClusterService::NewStub(channel_);
  }

  grpc::Status Call(const ScorePlacementsRequest& request,
                    ScorePlacementsResponse* response,
                    grpc::ClientContext& context) {
    return placements_->ScorePlacements(&context, request, response);
  }
  grpc::Status Call(const OptimizePlacementRequest& request,
                    OptimizePlacementResponse* response,
                    grpc::ClientContext& context) {
    return placements_->OptimizePlacement(&context, request, response);
  }
  grpc::Status Call(const RankNodesRequest& request,
                    RankNodesResponse* response, grpc::ClientContext& context) {
    return placements_->RankNodes(&context, request, response);
  }
  grpc::Status Call(const ProjectCompletionRequest& request,
                    ProjectCompletionResponse* response,
                    grpc::ClientContext& context) {
    return completions_->ProjectCompletion(&context, request, response);
  }
  grpc::Status Call(const RecordTimelineRequest& request,
                    RecordTimelineResponse* response,
                    grpc::ClientContext& context) {
    return timelines_->RecordTimeline(&context, request, response);
  }
  grpc::Status Call(const ExplainVariabilityRequest& request,
                    ExplainVariabilityResponse* response,
                    grpc::ClientContext& context) {
    return explanations_->ExplainVariability(&context, request, response);
  }

  // The answer to a request that is right.
  template <typename Response, typename Request>
  Response Answer(const Request& request) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status = Call(request, &response, context);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  // The fields that the server finds wrong.
  template <typename Response, typename Request>
  std::vector<std::string> WrongFields(const Request& request) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status = Call(request, &response, context);
    EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
    std::vector<std::string> fields;
    const auto detail = DetailOf<google::rpc::BadRequest>(status);
    if (!detail) return fields;
    for (const auto& violation : detail->field_violations()) {
      EXPECT_NE(violation.description(), "");
      fields.push_back(violation.field());
    }
    return fields;
  }

  // Two calls; the second finds the answer of the first.
  template <typename Response, typename Request>
  void ExpectSecondHits(const Request& request) {
    const auto first = Answer<Response>(request);
    auto second = Answer<Response>(request);
    EXPECT_EQ(first.provenance().cache(), prism::v1::CACHE_STATUS_MISS);
    EXPECT_EQ(first.provenance().signature().size(), 64u);
    EXPECT_EQ(second.provenance().cache(), prism::v1::CACHE_STATUS_HIT);
    EXPECT_NE(second.provenance().prediction_id(),
              first.provenance().prediction_id());
    EXPECT_EQ(second.provenance().signature(), first.provenance().signature());
    *second.mutable_provenance() = first.provenance();
    EXPECT_EQ(second.SerializeAsString(), first.SerializeAsString());
  }

  // The named cluster answers as the one that comes with the request, but for
  // its version.
  template <typename Response, typename Request>
  void ExpectNameIsTheCluster(const std::string& more) {
    const auto given = Answer<Response>(OnLab<Request>(more));
    const auto named = Answer<Response>(OnStoredLab<Request>(more));
    EXPECT_EQ(named.provenance().signature(), given.provenance().signature());
    EXPECT_EQ(named.provenance().cache(), prism::v1::CACHE_STATUS_HIT);
    EXPECT_EQ(given.provenance().cluster_version(), "");
    EXPECT_NE(named.provenance().cluster_version(), "");
  }

  void Put() {
    grpc::ClientContext context;
    prism::v1::PutClusterRequest request;
    *request.mutable_cluster() = Lab();
    prism::v1::StoredCluster stored;
    const auto status = clusters_->PutCluster(&context, request, &stored);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }

  void Update(const NodeState& state) {
    grpc::ClientContext context;
    prism::v1::UpdateNodesRequest request;
    request.set_name("lab");
    *request.add_nodes() = state;
    prism::v1::UpdateNodesResponse response;
    const auto status = clusters_->UpdateNodes(&context, request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }

  double Handled(const std::string& service, const std::string& method,
                 const std::string& code) const {
    return Metric(absl::StrCat("grpc_server_handled_total{grpc_code=\"", code,
                               "\",grpc_method=\"", method,
                               "\",grpc_service=\"prism.v1.", service,
                               "\",grpc_type=\"unary\"}"));
  }

  server::TemporaryFolder folder_;
  std::unique_ptr<PlacementService::Stub> placements_;
  std::unique_ptr<CompletionService::Stub> completions_;
  std::unique_ptr<TimelineService::Stub> timelines_;
  std::unique_ptr<ExplainService::Stub> explanations_;
  std::unique_ptr<ClusterService::Stub> clusters_;
};

TEST_F(QuestionServicesTest, ASecondAnswerComesFromTheCache) {
  ExpectSecondHits<ScorePlacementsResponse>(
      OnLab<ScorePlacementsRequest>(kCandidates));
  ExpectSecondHits<OptimizePlacementResponse>(
      OnLab<OptimizePlacementRequest>());
  ExpectSecondHits<RankNodesResponse>(OnLab<RankNodesRequest>());
  ExpectSecondHits<ProjectCompletionResponse>(
      OnLab<ProjectCompletionRequest>(kRun));
}

TEST_F(QuestionServicesTest, QuestionsOfAllKindsAreTakenForDifferentOnes) {
  const std::vector<std::string> signatures = {
      Answer<ScorePlacementsResponse>(
          OnLab<ScorePlacementsRequest>("placements: [{}]"))
          .provenance()
          .signature(),
      Answer<OptimizePlacementResponse>(OnLab<OptimizePlacementRequest>())
          .provenance()
          .signature(),
      Answer<RankNodesResponse>(OnLab<RankNodesRequest>())
          .provenance()
          .signature(),
      Answer<ProjectCompletionResponse>(OnLab<ProjectCompletionRequest>(kRun))
          .provenance()
          .signature()};
  for (size_t i = 0; i < signatures.size(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(signatures[i], signatures[j]);
  }
}

TEST_F(QuestionServicesTest, AStoredClusterAnswersAsTheSameOneGiven) {
  Put();
  ExpectNameIsTheCluster<ScorePlacementsResponse, ScorePlacementsRequest>(
      kCandidates);
  ExpectNameIsTheCluster<OptimizePlacementResponse, OptimizePlacementRequest>(
      "");
  ExpectNameIsTheCluster<RankNodesResponse, RankNodesRequest>("");
  ExpectNameIsTheCluster<ProjectCompletionResponse, ProjectCompletionRequest>(
      kRun);
  ExpectNameIsTheCluster<RecordTimelineResponse, RecordTimelineRequest>("");
  ExpectNameIsTheCluster<ExplainVariabilityResponse, ExplainVariabilityRequest>(
      "");
}

TEST_F(QuestionServicesTest, ANodeThatACandidateUsesIsAnotherVersion) {
  Put();
  const auto request = OnStoredLab<ScorePlacementsRequest>(kCandidates);
  const auto before = Answer<ScorePlacementsResponse>(request);
  Update(Slow(2, 1.5));
  const auto after = Answer<ScorePlacementsResponse>(request);
  EXPECT_EQ(after.provenance().cache(), prism::v1::CACHE_STATUS_MISS);
  EXPECT_NE(after.provenance().cluster_version(),
            before.provenance().cluster_version());
  EXPECT_NE(after.provenance().signature(), before.provenance().signature());
  EXPECT_EQ(before.placements(1).tied_group(), 0u);
  EXPECT_EQ(after.placements(1).tied_group(), 1u);
  EXPECT_GT(after.placements(1).step_time().mean_seconds(),
            before.placements(1).step_time().mean_seconds());
}

TEST_F(QuestionServicesTest, ANodeThatNoCandidateUsesChangesNothing) {
  Put();
  const auto request = OnStoredLab<ScorePlacementsRequest>(kCandidates);
  const auto before = Answer<ScorePlacementsResponse>(request);
  Update(Slow(4, 1.5));
  const auto after = Answer<ScorePlacementsResponse>(request);
  EXPECT_EQ(after.provenance().cache(), prism::v1::CACHE_STATUS_HIT);
  EXPECT_EQ(after.provenance().cluster_version(),
            before.provenance().cluster_version());
  EXPECT_EQ(after.provenance().signature(), before.provenance().signature());
}

TEST_F(QuestionServicesTest, AChosenNodeThatSlowsDownIsLeft) {
  Put();
  const auto request =
      OnStoredLab<OptimizePlacementRequest>("free_nodes: [0, 1, 2]");
  const auto before = Answer<OptimizePlacementResponse>(request);
  const uint32_t slow = before.placement().nodes(0);
  Update(Slow(slow, 1.5));
  const auto after = Answer<OptimizePlacementResponse>(request);
  EXPECT_NE(after.provenance().cluster_version(),
            before.provenance().cluster_version());
  for (const uint32_t node : after.placement().nodes()) EXPECT_NE(node, slow);
}

TEST_F(QuestionServicesTest, WhatIsWrongIsToldByItsPath) {
  EXPECT_THAT(
      WrongFields<ScorePlacementsResponse>(OnLab<ScorePlacementsRequest>(
          "risk_quantile: 1\n"
          "placements: [{nodes: [0, 1]}, {nodes: [0, 7]}]\n")),
      ElementsAre("risk_quantile", "placements[1].nodes[1]"));
  EXPECT_THAT(
      WrongFields<OptimizePlacementResponse>(OnLab<OptimizePlacementRequest>(
          "free_nodes: [9]\n"
          "constraints: {exclude: [0, 0], within: rack, segment_nodes: 3}\n")),
      ElementsAre("free_nodes[0]", "constraints.exclude[1]",
                  "constraints.within", "constraints.segment_nodes"));
  EXPECT_THAT(WrongFields<RankNodesResponse>(
                  OnLab<RankNodesRequest>("nodes: [0, 6]\nclass_width: -1\n")),
              ElementsAre("class_width", "nodes[1]"));
  EXPECT_THAT(
      WrongFields<ProjectCompletionResponse>(OnLab<ProjectCompletionRequest>(
          "run: {step_autocorrelation: 2}\ndeadline_seconds: -1\n")),
      IsSupersetOf(
          {"run.steps", "run.step_autocorrelation", "deadline_seconds"}));
}

TEST_F(QuestionServicesTest, WhatIsWrongInAWhatIfIsToldByItsPath) {
  EXPECT_THAT(
      WrongFields<ScorePlacementsResponse>(OnLab<ScorePlacementsRequest>(
          absl::StrCat(kCandidates, "\nwhat_ifs: [{}, {nodes: [{node: 8}]}]"))),
      ElementsAre("what_ifs[1].nodes[0].node"));
  EXPECT_THAT(
      WrongFields<ProjectCompletionResponse>(OnLab<ProjectCompletionRequest>(
          absl::StrCat(kRun, "what_ifs: [{run: {job_factor_sd: 3}}]"))),
      ElementsAre("what_ifs[0].run.job_factor_sd"));
}

TEST_F(QuestionServicesTest, TimelinesAreKeptAndCounted) {
  ExpectSecondHits<RecordTimelineResponse>(OnLab<RecordTimelineRequest>());
  const auto wrong = OnLab<RecordTimelineRequest>("samples: 9\n");
  EXPECT_THAT(WrongFields<RecordTimelineResponse>(wrong),
              ElementsAre("samples"));
  EXPECT_THAT(WrongFields<RecordTimelineResponse>(
                  OnLab<RecordTimelineRequest>("ranks: [0, 16]\n")),
              ElementsAre("ranks[1]"));
  EXPECT_EQ(Handled("TimelineService", "RecordTimeline", "OK"), 2);
  EXPECT_EQ(Handled("TimelineService", "RecordTimeline", "InvalidArgument"), 2);
  EXPECT_EQ(Metric("prism_simulation_seconds_count{core=\"timeline\"}"), 1);
}

TEST_F(QuestionServicesTest, ExplanationsAreKeptAndCounted) {
  const std::string change =
      "what_ifs: [{scale: {source: forward.layer, factor: 0.5}}]\n";
  ExpectSecondHits<ExplainVariabilityResponse>(
      OnLab<ExplainVariabilityRequest>(change));
  EXPECT_THAT(WrongFields<ExplainVariabilityResponse>(
                  OnLab<ExplainVariabilityRequest>("samples: 9\n"
                                                   "variation: \"off\"\n")),
              ElementsAre("samples"));
  EXPECT_THAT(
      WrongFields<ExplainVariabilityResponse>(OnLab<ExplainVariabilityRequest>(
          "what_ifs: [{freeze: kernels}, {replace_rank: 16}]\n")),
      ElementsAre("what_ifs[0].freeze", "what_ifs[1].replace_rank"));
  EXPECT_EQ(Handled("ExplainService", "ExplainVariability", "OK"), 2);
  EXPECT_EQ(Handled("ExplainService", "ExplainVariability", "InvalidArgument"),
            2);
  EXPECT_EQ(Metric("prism_simulation_seconds_count{core=\"explain\"}"), 1);
}

TEST_F(QuestionServicesTest, AnEmptyRequestSaysWhatItNeeds) {
  EXPECT_FALSE(
      WrongFields<ScorePlacementsResponse>(ScorePlacementsRequest()).empty());
  EXPECT_FALSE(
      WrongFields<OptimizePlacementResponse>(OptimizePlacementRequest())
          .empty());
  EXPECT_FALSE(WrongFields<RankNodesResponse>(RankNodesRequest()).empty());
  EXPECT_FALSE(
      WrongFields<ProjectCompletionResponse>(ProjectCompletionRequest())
          .empty());
}

TEST_F(QuestionServicesTest, ANameThatNobodyPutIsNotFound) {
  grpc::ClientContext context;
  RankNodesResponse response;
  const grpc::Status status =
      Call(OnStoredLab<RankNodesRequest>(), &response, context);
  EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
  const auto resource = DetailOf<google::rpc::ResourceInfo>(status);
  ASSERT_TRUE(resource);
  EXPECT_EQ(resource->resource_name(), "lab");
}

TEST_F(QuestionServicesTest, ANameBesideAClusterIsAViolation) {
  Put();
  auto request = OnLab<RankNodesRequest>();
  request.set_cluster_name("lab");
  EXPECT_THAT(WrongFields<RankNodesResponse>(request),
              ElementsAre("cluster_name"));
}

TEST_F(QuestionServicesTest, MetricsAndLogKnowEachMethod) {
  Answer<ScorePlacementsResponse>(OnLab<ScorePlacementsRequest>(kCandidates));
  Answer<OptimizePlacementResponse>(OnLab<OptimizePlacementRequest>());
  Answer<RankNodesResponse>(OnLab<RankNodesRequest>());
  Answer<ProjectCompletionResponse>(OnLab<ProjectCompletionRequest>(kRun));
  WrongFields<RankNodesResponse>(RankNodesRequest());
  for (const char* method :
       {"ScorePlacements", "OptimizePlacement", "RankNodes"}) {
    EXPECT_EQ(Handled("PlacementService", method, "OK"), 1) << method;
  }
  EXPECT_EQ(Handled("CompletionService", "ProjectCompletion", "OK"), 1);
  EXPECT_EQ(Handled("PlacementService", "RankNodes", "InvalidArgument"), 1);
  EXPECT_EQ(Metric("prism_simulation_seconds_count{core=\"placement\"}"), 3);
  EXPECT_EQ(Metric("prism_simulation_seconds_count{core=\"completion\"}"), 1);
  EXPECT_EQ(Metric("prism_predictions_total{quality=\"EXACT\"}"), 4);
  server_->Drain();
  for (const char* method : {"ScorePlacements", "OptimizePlacement",
                             "RankNodes", "ProjectCompletion"}) {
    EXPECT_THAT(log_text_.str(), ::testing::HasSubstr(absl::StrCat(
                                     "\"method\":\"", method, "\"")));
  }
}

// Questions that take longer than their deadlines allow.
class HurriedQuestionTest : public QuestionServicesTest {
 protected:
  // The job on half of `nodes` nodes, all of other speed.
  static prism::v1::Cluster ManySpeeds(uint32_t nodes) {
    prism::v1::Cluster cluster = Lab();
    cluster.set_nodes(nodes);
    cluster.clear_node_states();
    for (uint32_t i = 0; i < nodes; ++i) {
      *cluster.add_node_states() = Slow(i, 1 + 1e-4 * (i * 7919 % nodes));
    }
    return cluster;
  }

  // Of eight stages.
  template <typename Request>
  static Request Large(uint32_t nodes) {
    Request request = OnLab<Request>();
    *request.mutable_cluster() = ManySpeeds(nodes);
    auto& split = *request.mutable_job()->mutable_parallelism();
    split.set_pipeline(8);
    split.set_data(nodes / 2 / 8);
    request.mutable_job()->mutable_training()->set_global_batch(nodes * 4);
    return request;
  }

  // An answer that says how good it is (a fast machine may have had the time),
  // or none because it is late; the server is then free again.
  template <typename Response, typename Request>
  void ExpectInTime(const Request& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(100));
    Response response;
    const grpc::Status status = Call(request, &response, context);
    if (status.ok()) {
      EXPECT_THAT(response.provenance().quality(),
                  ::testing::AnyOf(prism::v1::QUALITY_REDUCED,
                                   prism::v1::QUALITY_EXACT));
    } else {
      EXPECT_EQ(status.error_code(), grpc::DEADLINE_EXCEEDED)
          << status.error_message();
    }
    while (Metric("prism_requests_in_flight") > 0) {
      absl::SleepFor(absl::Milliseconds(10));
    }
    Answer<RankNodesResponse>(OnLab<RankNodesRequest>());
  }
};

TEST_F(HurriedQuestionTest, ScoresComeInTimeOrNotAtAll) {
  auto request = Large<ScorePlacementsRequest>(2048);
  for (uint32_t i = 0; i < 1000; ++i) {
    auto& nodes = *request.add_placements()->mutable_nodes();
    for (uint32_t r = 0; r < 1024; ++r) nodes.Add((i + r) % 2048);
  }
  ExpectInTime<ScorePlacementsResponse>(request);
}

TEST_F(HurriedQuestionTest, APlacementComesInTimeOrNotAtAll) {
  ExpectInTime<OptimizePlacementResponse>(
      Large<OptimizePlacementRequest>(2048));
}

TEST_F(HurriedQuestionTest, ATimelineComesInTimeOrNotAtAll) {
  auto request = Large<RecordTimelineRequest>(2048);
  request.set_samples(1'000'000);
  ExpectInTime<RecordTimelineResponse>(request);
}

TEST_F(HurriedQuestionTest, AnExplanationComesInTimeOrNotAtAll) {
  auto request = Large<ExplainVariabilityRequest>(2048);
  ExpectInTime<ExplainVariabilityResponse>(request);
  request.set_samples(1'000'000);
  ExpectInTime<ExplainVariabilityResponse>(request);
}

TEST_F(HurriedQuestionTest, AProjectionComesInTimeOrNotAtAll) {
  // Millions of failures a run.
  auto request = OnLab<ProjectCompletionRequest>(
      "run: {steps: 1000000000000, checkpoints: {interval_seconds: 600},\n"
      "      reliability: {failures_per_node_day: 1}}\n");
  ExpectInTime<ProjectCompletionResponse>(request);
}

}  // namespace
}  // namespace prism::testing
