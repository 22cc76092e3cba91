// Cached Predict requests per second over loopback, beside a bare echo service
// with messages of the same size, in one process and one run.
//
//   serving_bench [seconds per measurement] [calls in flight] [rounds]
//
// Both services use the raw form of the callback API and one asynchronous
// client. The two take turns, so that whatever else the machine does meets
// both; the ratio is that of the medians.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/query/document.h"
#include "core/query/predict.h"
#include "prism/v1/prediction_service.grpc.pb.h"
#include "server/config.h"
#include "server/json_log.h"
#include "server/server.h"

namespace {

using prism::v1::PredictionService;
using Seconds = std::chrono::duration<double>;

constexpr char kMethod[] = "/prism.v1.PredictionService/Predict";
constexpr double kGoal = 0.6;

// Answers every call with the same bytes.
class EchoService final
    : public PredictionService::WithRawCallbackMethod_Predict<
          PredictionService::Service> {
 public:
  explicit EchoService(const std::string& answer) : slice_(answer) {}

  grpc::ServerUnaryReactor* Predict(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer*,
                                    grpc::ByteBuffer* response) override {
    *response = grpc::ByteBuffer(&slice_, 1);
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  grpc::Slice slice_;
};

// Keeps `in_flight` calls open for a time and counts those that end.
class Load {
 public:
  Load(const std::string& address, const std::string& request, int in_flight)
      : stub_(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())),
        slice_(request),
        in_flight_(in_flight) {}

  // Calls per second; exits if one fails.
  double Run(Seconds length) {
    const auto start = std::chrono::steady_clock::now();
    const auto end = start + length;
    for (int i = 0; i < in_flight_; ++i) Begin();
    long done = 0;
    int open = in_flight_;
    while (open > 0) {
      void* tag = nullptr;
      bool ok = false;
      queue_.Next(&tag, &ok);
      std::unique_ptr<Call> call(static_cast<Call*>(tag));
      if (!call->status.ok()) {
        std::fprintf(stderr, "call failed: %s\n",
                     call->status.error_message().c_str());
        std::exit(1);
      }
      ++done;
      --open;
      if (std::chrono::steady_clock::now() < end) {
        Begin();
        ++open;
      }
    }
    return static_cast<double>(done) /
           Seconds(std::chrono::steady_clock::now() - start).count();
  }

 private:
  struct Call {
    grpc::ClientContext context;
    grpc::ByteBuffer response;
    grpc::Status status;
    std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
  };

  void Begin() {
    auto* call = new Call;
    call->reader = stub_.PrepareUnaryCall(
        &call->context, kMethod, grpc::ByteBuffer(&slice_, 1), &queue_);
    call->reader->StartCall();
    call->reader->Finish(&call->response, &call->status, call);
  }

  grpc::GenericStub stub_;
  grpc::Slice slice_;
  grpc::CompletionQueue queue_;
  const int in_flight_;
};

// One question, of the size that a job's is.
std::string Request() {
  prism::v1::PredictRequest request;
  prism::base::Violations violations;
  prism::query::ReadDocument(
      "layout: {data: 2, pipeline: 4, microbatches: 8}\n"
      "schedule: 1f1b\n"
      "forward: [{name: block, compute: {lognormal: {mean: 2, cv: 0.1}}}]\n"
      "backward: [{name: block, compute: {lognormal: {mean: 4, cv: 0.1}}}]\n"
      "transfer: {lognormal: {mean: 0.1, cv: 0.3}}\n"
      "gradient_sync: {lognormal: {mean: 5, cv: 0.2}}\n"
      "optimizer: 1\n",
      request.add_questions()->mutable_profile(), violations);
  request.mutable_questions(0)->set_samples(1000);
  return request.SerializeAsString();
}

// The answer from the cache to `request`.
std::string CachedAnswer(const std::string& address,
                         const std::string& request) {
  auto stub = PredictionService::NewStub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  prism::v1::PredictRequest message;
  message.ParseFromString(request);
  prism::v1::PredictResponse response;
  for (int i = 0; i < 2; ++i) {
    grpc::ClientContext context;
    const grpc::Status status = stub->Predict(&context, message, &response);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.error_message().c_str());
      std::exit(1);
    }
  }
  return response.SerializeAsString();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const Seconds length(argc > 1 ? std::atof(argv[1]) : 2);
  const int in_flight = argc > 2 ? std::atoi(argv[2]) : 64;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;

  prism::server::ConfigSources sources;
  sources.flags = {{"listen", "127.0.0.1:0"},
                   {"http", "127.0.0.1:0"},
                   {"drain_notice_seconds", "0"}};
  prism::server::JsonLog log(prism::server::LogLevel::kInfo);
  auto server = prism::server::Server::Start(
      *prism::server::ReadConfig(sources), prism::query::Predict, log);
  if (!server.ok()) return 1;
  const std::string request = Request();
  const std::string answer = CachedAnswer((*server)->grpc_address(), request);

  EchoService echo(answer);
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(&echo);
  auto echo_server = builder.BuildAndStart();

  Load predict_load((*server)->grpc_address(), request, in_flight);
  Load echo_load("127.0.0.1:" + std::to_string(port), request, in_flight);
  predict_load.Run(length / 4);
  echo_load.Run(length / 4);
  std::vector<double> predict_rates, echo_rates;
  for (int round = 0; round < rounds; ++round) {
    echo_rates.push_back(echo_load.Run(length));
    predict_rates.push_back(predict_load.Run(length));
  }
  const double ratio = Median(predict_rates) / Median(echo_rates);
  std::fprintf(stderr,
               "request %zu bytes, answer %zu bytes, %d in flight\n"
               "bare echo       %8.0f requests/s\n"
               "cached Predict  %8.0f requests/s\n"
               "ratio           %8.2f (goal: at least %.2f)\n",
               request.size(), answer.size(), in_flight, Median(echo_rates),
               Median(predict_rates), ratio, kGoal);
  return ratio >= kGoal ? 0 : 1;
}
