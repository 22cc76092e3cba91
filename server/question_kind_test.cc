// A whole RPC made of one QuestionKind, with a model that only counts.
#include "server/question_kind.h"

#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>
#include <gmock/gmock.h>
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <sstream>
#include <string>

#include "prism/v1/placement_service.grpc.pb.h"
#include "server/json_log.h"
#include "server/question_method.h"
#include "server/request_log.h"
#include "server/temporary_folder.h"

namespace prism::server {
namespace {

using prism::v1::PlacementService;
using prism::v1::RankNodesRequest;
using prism::v1::RankNodesResponse;
using testing::SizeIs;

// How many nodes the cluster has, and how wide a class is.
struct RankQuestion {
  uint32_t nodes;
  double class_width;
};

std::optional<RankQuestion> ReadRank(const RankNodesRequest& message,
                                     const std::string& path,
                                     base::Violations& violations) {
  EXPECT_EQ(path, "");
  if (message.class_width() < 0) {
    violations.Add("class_width", "is below 0");
    return std::nullopt;
  }
  return RankQuestion{message.cluster().nodes(), message.class_width()};
}

class RankService final
    : public PlacementService::WithRawCallbackMethod_RankNodes<
          PlacementService::Service> {
 public:
  RankService(ServiceState& state, ReadRequest read)
      : rank_(state, {PlacementService::service_full_name(), "RankNodes"},
              std::move(read), 1 << 20) {}

  grpc::ServerUnaryReactor* RankNodes(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override {
    return rank_.Serve(context, request, response);
  }

 private:
  QuestionMethod rank_;
};

class QuestionKindTest : public testing::Test {
 protected:
  QuestionKindTest() {
    auto store = ClusterStore::Open(folder_.path(), tools_.clock, metrics_);
    EXPECT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    state_.clusters = store_.get();
    service_ = std::make_unique<RankService>(state_, OneQuestion(Kind()));
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port);
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    stub_ = PlacementService::NewStub(grpc::CreateChannel(
        absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
  }
  ~QuestionKindTest() override {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }

  QuestionKind<RankNodesRequest, RankQuestion> Kind() {
    QuestionKind<RankNodesRequest, RankQuestion> kind;
    kind.read = ReadRank;
    kind.canonical_form = [](const RankQuestion& question) {
      return absl::StrCat("test.rank ", question.nodes, " ",
                          question.class_width);
    };
    kind.cluster_form = [](const RankQuestion& question) {
      return absl::StrCat(question.nodes);
    };
    kind.compute = [this](const RankQuestion& question,
                          const base::Budget& budget, base::Executor&) {
      return Compute(question, budget);
    };
    return kind;
  }

  // Wide classes take all the time there is.
  absl::StatusOr<Computed> Compute(const RankQuestion& question,
                                   const base::Budget& budget) {
    ++computed_;
    RankNodesResponse response;
    response.mutable_provenance()->set_quality(prism::v1::QUALITY_EXACT);
    while (question.class_width > 100 && !budget.Cancelled()) {
      if (budget.Remaining() <= absl::ZeroDuration()) {
        response.mutable_provenance()->set_quality(prism::v1::QUALITY_REDUCED);
        break;
      }
      absl::SleepFor(absl::Milliseconds(1));
    }
    for (uint32_t node = 0; node < question.nodes; ++node) {
      response.add_nodes()->set_node(node);
    }
    return ComputedFrom(response, Engine::kPlacement, 5);
  }

  void Put(const std::string& name, uint32_t nodes) {
    prism::v1::Cluster cluster;
    cluster.set_nodes(nodes);
    std::promise<void> stored;
    store_->Apply({name, "", ClusterChange::Put{cluster}},
                  [&](const absl::StatusOr<ClusterSnapshotPtr>& result) {
                    EXPECT_TRUE(result.ok()) << result.status();
                    stored.set_value();
                  });
    stored.get_future().wait();
  }

  grpc::Status Ask(const RankNodesRequest& request, RankNodesResponse* response,
                   absl::Duration timeout = absl::Seconds(30)) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         absl::ToChronoMilliseconds(timeout));
    return stub_->RankNodes(&context, request, response);
  }

  RankNodesResponse Answer(const RankNodesRequest& request) {
    RankNodesResponse response;
    const grpc::Status status = Ask(request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  static RankNodesRequest Named(const std::string& name) {
    RankNodesRequest request;
    request.set_cluster_name(name);
    return request;
  }
  static RankNodesRequest OfNodes(uint32_t nodes) {
    RankNodesRequest request;
    request.mutable_cluster()->set_nodes(nodes);
    return request;
  }

  TemporaryFolder folder_;
  std::ostringstream log_text_;
  JsonLog log_{LogLevel::kInfo, log_text_};
  Metrics metrics_{"test"};
  RequestLog request_log_{{}, log_};
  CallTools tools_{[] { return absl::Now(); }, metrics_, request_log_, {}};
  Answers answers_{{}, tools_.clock, metrics_};
  std::unique_ptr<ClusterStore> store_;
  ServiceState state_{.answers = answers_, .tools = tools_};
  std::unique_ptr<RankService> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<PlacementService::Stub> stub_;
  std::atomic<int> computed_ = 0;
};

TEST_F(QuestionKindTest, AnswersCarryTheirProvenance) {
  const auto answer = Answer(OfNodes(3));
  EXPECT_THAT(answer.nodes(), SizeIs(3));
  const auto& provenance = answer.provenance();
  EXPECT_EQ(provenance.cache(), prism::v1::CACHE_STATUS_MISS);
  EXPECT_EQ(provenance.quality(), prism::v1::QUALITY_EXACT);
  EXPECT_THAT(provenance.signature(), SizeIs(64));
  EXPECT_FALSE(provenance.prediction_id().empty());
  EXPECT_TRUE(provenance.has_valid_until());
  EXPECT_EQ(provenance.cluster_version(), "");
}

TEST_F(QuestionKindTest, TheSameQuestionIsComputedOnce) {
  const auto first = Answer(OfNodes(3));
  const auto second = Answer(OfNodes(3));
  EXPECT_EQ(second.provenance().cache(), prism::v1::CACHE_STATUS_HIT);
  EXPECT_EQ(second.provenance().signature(), first.provenance().signature());
  EXPECT_NE(second.provenance().prediction_id(),
            first.provenance().prediction_id());
  EXPECT_EQ(computed_, 1);
}

TEST_F(QuestionKindTest, AStoredClusterStandsForItsName) {
  Put("a", 3);
  EXPECT_EQ(Answer(OfNodes(3)).provenance().cluster_version(), "");
  const auto named = Answer(Named("a"));
  EXPECT_THAT(named.nodes(), SizeIs(3));
  EXPECT_EQ(named.provenance().cache(), prism::v1::CACHE_STATUS_HIT);
  EXPECT_THAT(named.provenance().cluster_version(), SizeIs(16));
  EXPECT_EQ(Answer(Named("a")).provenance().cluster_version(),
            named.provenance().cluster_version());

  Put("a", 4);
  const auto changed = Answer(Named("a"));
  EXPECT_THAT(changed.nodes(), SizeIs(4));
  EXPECT_NE(changed.provenance().cluster_version(),
            named.provenance().cluster_version());
}

TEST_F(QuestionKindTest, AMissingClusterIsNotFound) {
  RankNodesResponse response;
  EXPECT_EQ(Ask(Named("gone"), &response).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(QuestionKindTest, ViolationsAreTold) {
  RankNodesRequest wrong;
  wrong.set_class_width(-1);
  RankNodesResponse response;
  const grpc::Status status = Ask(wrong, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "class_width is below 0");
}

TEST_F(QuestionKindTest, ADeadlineGivesAReducedAnswer) {
  RankNodesRequest slow = OfNodes(2);
  slow.set_class_width(1000);
  RankNodesResponse response;
  ASSERT_TRUE(Ask(slow, &response, absl::Milliseconds(500)).ok());
  EXPECT_EQ(response.provenance().quality(), prism::v1::QUALITY_REDUCED);
}

TEST_F(QuestionKindTest, DrainingRefusesNewQuestionsAndAnswersKnownOnes) {
  Answer(OfNodes(3));
  state_.draining = true;
  EXPECT_EQ(Answer(OfNodes(3)).provenance().cache(),
            prism::v1::CACHE_STATUS_HIT);
  RankNodesResponse response;
  EXPECT_EQ(Ask(OfNodes(4), &response).error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST_F(QuestionKindTest, TheMethodIsCounted) {
  Answer(OfNodes(3));
  const std::string text = metrics_.Text();
  EXPECT_THAT(text,
              testing::HasSubstr("grpc_server_handled_total{grpc_code=\"OK\","
                                 "grpc_method=\"RankNodes\","
                                 "grpc_service=\"prism.v1.PlacementService\","
                                 "grpc_type=\"unary\"} 1"));
  EXPECT_THAT(text, testing::HasSubstr("prism_simulation_seconds_count{"
                                       "core=\"placement\"} 1"));
}

}  // namespace
}  // namespace prism::server
