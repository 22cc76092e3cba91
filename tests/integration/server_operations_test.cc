// What operators see: metrics, probes, health, reflection, logs, drain.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/integration/server_fixture.h"

namespace prism::testing {
namespace {

using prism::v1::Prediction;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class OperationsTest : public ServerTest {
 protected:
  OperationsTest() { StartServer(); }

  std::string Metrics() { return HttpGet(server_->http_address(), "/metrics"); }

  // The answer of grpc.health.v1.Health/Check: field 1, the serving status;
  // 1 is SERVING, 2 NOT_SERVING, -1 that there is no such service.
  int Health(const std::string& service) {
    std::string request;
    if (!service.empty()) {
      request =
          "\x0a" + std::string(1, static_cast<char>(service.size())) + service;
    }
    grpc::Slice slice(request);
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check",
                                      grpc::ByteBuffer(&slice, 1), &queue);
    call->StartCall();
    grpc::ByteBuffer response;
    grpc::Status status;
    call->Finish(&response, &status, this);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    grpc::Slice answer;
    if (!status.ok() || !response.DumpToSingleSlice(&answer).ok()) return -1;
    return answer.size() == 2 ? answer.begin()[1] : 0;
  }
};

TEST_F(OperationsTest, LivenessAndReadinessAnswer) {
  EXPECT_THAT(HttpGet(server_->http_address(), "/healthz"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(HttpGet(server_->http_address(), "/readyz"),
              StartsWith("HTTP/1.1 200"));
}

TEST_F(OperationsTest, UnknownPathIsNotFound) {
  EXPECT_THAT(HttpGet(server_->http_address(), "/etc/passwd"),
              StartsWith("HTTP/1.1 404"));
}

TEST_F(OperationsTest, AfterDrainAliveButNotReady) {
  server_->Drain();
  EXPECT_THAT(HttpGet(server_->http_address(), "/healthz"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(HttpGet(server_->http_address(), "/readyz"),
              StartsWith("HTTP/1.1 503"));
}

TEST_F(OperationsTest, HealthAnswersForServerAndService) {
  EXPECT_EQ(Health(""), 1);
  for (const char* service :
       {"PredictionService", "PlacementService", "CompletionService",
        "TimelineService", "ExplainService", "ClusterService"}) {
    EXPECT_EQ(Health(std::string("prism.v1.") + service), 1) << service;
  }
  EXPECT_EQ(Health("prism.v1.Nothing"), -1);
}

TEST_F(OperationsTest, ReflectionListsTheService) {
  // ServerReflectionRequest{list_services: "*"}
  const std::string request = std::string("\x3a\x01*", 3);
  grpc::Slice slice(request);
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool ok = false;
  auto call = stub.PrepareCall(
      &context,
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  call->StartCall(this);
  queue.Next(&tag, &ok);
  call->Write(grpc::ByteBuffer(&slice, 1), this);
  queue.Next(&tag, &ok);
  grpc::ByteBuffer response;
  call->Read(&response, this);
  queue.Next(&tag, &ok);
  grpc::Slice answer;
  ASSERT_TRUE(response.DumpToSingleSlice(&answer).ok());
  EXPECT_THAT(std::string(answer.begin(), answer.end()),
              HasSubstr("prism.v1.PredictionService"));
  call->WritesDone(this);
  queue.Next(&tag, &ok);
  grpc::Status status;
  call->Finish(&status, this);
  queue.Next(&tag, &ok);
}

TEST_F(OperationsTest, MetricsMoveWithRequests) {
  Prediction prediction;
  ASSERT_TRUE(Ask(ProfileQuestion(), &prediction).ok());
  ASSERT_TRUE(Ask(ProfileQuestion(), &prediction).ok());
  const std::string text = Metrics();
  const std::string method =
      "grpc_method=\"Predict\",grpc_service=\"prism.v1.PredictionService\","
      "grpc_type=\"unary\"}";
  const struct {
    std::string series;
    double value;
  } expected[] = {
      {"grpc_server_started_total{" + method, 2},
      {"grpc_server_handled_total{grpc_code=\"OK\"," + method, 2},
      {"grpc_server_handling_seconds_count{" + method, 2},
      {"prism_requests_in_flight", 0},
      {"prism_queue_depth", 0},
      {"prism_queue_wait_seconds_count", 1},
      {"prism_simulation_seconds_count{core=\"montecarlo\"}", 1},
      {"prism_simulation_samples_total", 100},
      {"prism_predictions_total{quality=\"EXACT\"}", 2},
      {"prism_cache_requests_total{result=\"hit\",tier=\"memory\"}", 1},
      {"prism_cache_requests_total{result=\"miss\",tier=\"memory\"}", 1},
      {"prism_cache_entries", 1},
  };
  for (const auto& [series, value] : expected) {
    EXPECT_EQ(SeriesValue(text, series), value) << series;
  }
  EXPECT_GT(SeriesValue(text, "prism_cache_bytes"), 100);
}

TEST_F(OperationsTest, LatencyHasABucketForEachObjective) {
  const std::string text = Metrics();
  for (const char* bound : {"0.0005", "0.05", "0.2", "1", "10"}) {
    EXPECT_THAT(text, HasSubstr(std::string("le=\"") + bound + "\"")) << bound;
  }
}

TEST_F(OperationsTest, MetricsPassTheLinter) {
  const std::string answer = Metrics();
  const std::string file = ::testing::TempDir() + "/server_metrics.txt";
  std::ofstream(file) << answer.substr(answer.find("\r\n\r\n") + 4);
  EXPECT_EQ(std::system(("promtool check metrics < " + file).c_str()), 0);
}

TEST_F(OperationsTest, RequestLeavesOneLine) {
  Prediction prediction;
  ASSERT_TRUE(Ask(ProfileQuestion(), &prediction).ok());
  server_.reset();
  log_.reset();
  std::istringstream lines(log_text_.str());
  int found = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json["event"] != "request") continue;
    ++found;
    EXPECT_EQ(json["method"], "Predict");
    EXPECT_EQ(json["prediction_id"], prediction.prediction_id());
    EXPECT_EQ(json["signature"], prediction.signature());
    EXPECT_EQ(json["cache"], "MISS");
    EXPECT_EQ(json["quality"], "EXACT");
    EXPECT_EQ(json["code"], "OK");
    EXPECT_GT(json["latency_seconds"], 0);
  }
  EXPECT_EQ(found, 1);
}

TEST_F(OperationsTest, DrainFinishesWhatIsInFlight) {
  held_ = true;
  auto call = AskLater(ProfileQuestion());
  AwaitPredictions(1);
  std::jthread drain([this] { server_->Drain(); });
  while (HttpGet(server_->http_address(), "/readyz").find(" 503") ==
         std::string::npos) {
  }
  Release();
  call->Wait();
  EXPECT_TRUE(call->status.ok()) << call->status.error_message();
}

TEST_F(OperationsTest, AfterDrainNobodyIsServed) {
  server_->Drain();
  Prediction prediction;
  EXPECT_EQ(Ask(ProfileQuestion(), &prediction, absl::Seconds(5)).error_code(),
            grpc::UNAVAILABLE);
}

class SampledLogTest : public ServerTest {
 protected:
  SampledLogTest() { StartServer({{"log_successes_per_second", "0"}}); }

  std::string Log() {
    server_.reset();
    log_.reset();
    return log_text_.str();
  }
};

TEST_F(SampledLogTest, SuccessesAreLeftOut) {
  Prediction prediction;
  ASSERT_TRUE(Ask(ProfileQuestion(), &prediction).ok());
  EXPECT_THAT(Log(), ::testing::Not(HasSubstr("\"event\":\"request\"")));
}

TEST_F(SampledLogTest, FailuresAreNot) {
  Prediction prediction;
  ASSERT_TRUE(Ask(ProfileQuestion(), &prediction).ok());
  EXPECT_FALSE(Ask(prism::v1::Question(), &prediction).ok());
  const std::string log = Log();
  EXPECT_THAT(log, HasSubstr("\"code\":\"INVALID_ARGUMENT\""));
  EXPECT_THAT(log, HasSubstr("\"left_out\":1"));
}

class StuckDrainTest : public ServerTest {
 protected:
  StuckDrainTest() { StartServer({{"drain_seconds", "0.1"}}); }
};

TEST_F(StuckDrainTest, CallsThatTakeTooLongAreCancelled) {
  held_ = true;
  auto call = AskLater(ProfileQuestion());
  AwaitPredictions(1);
  server_->Drain();
  call->Wait();
  EXPECT_FALSE(call->status.ok());
}

}  // namespace
}  // namespace prism::testing
