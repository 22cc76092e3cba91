#include "tests/integration/server_fixture.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/time/clock.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "core/base/violations.h"
#include "core/query/document.h"

namespace prism::testing {

using prism::v1::Prediction;
using prism::v1::Question;

Question ProfileQuestion(double seconds) {
  Question question;
  base::Violations violations;
  query::ReadDocument(
      absl::StrFormat("name: small\n"
                      "layout: {data: 2, pipeline: 2, microbatches: 4}\n"
                      "forward: [{compute: %.17g}]\n"
                      "backward: [{compute: 3}]\n"
                      "slowdown: {1: 1.5, 2: 1.25}\n",
                      seconds),
      question.mutable_profile(), violations);
  EXPECT_TRUE(violations.empty()) << violations.list().front().description;
  question.set_samples(100);
  return question;
}

prism::v1::PredictRequest RequestOf(const Question& question) {
  prism::v1::PredictRequest request;
  *request.add_questions() = question;
  return request;
}

std::string HttpGet(const std::string& address, const std::string& path) {
  const size_t colon = address.rfind(':');
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port =
      htons(static_cast<uint16_t>(std::stoi(address.substr(colon + 1))));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0) {
    const std::string request =
        absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: x\r\n\r\n");
    send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    char part[4096];
    for (ssize_t n; (n = recv(fd, part, sizeof(part), 0)) > 0;) {
      answer.append(part, n);
    }
  }
  close(fd);
  return answer;
}

double SeriesValue(const std::string& exposition, const std::string& series) {
  const size_t at = exposition.find("\n" + series + " ");
  if (at == std::string::npos) return -1;
  return std::stod(exposition.substr(at + series.size() + 2));
}

void ServerTest::StartServer(const server::SettingTexts& settings) {
  server::ConfigSources sources;
  sources.environment = {{"listen", "127.0.0.1:0"},
                         {"http", "127.0.0.1:0"},
                         {"workers", "2"},
                         {"drain_seconds", "10"},
                         {"drain_notice_seconds", "0"}};
  sources.flags = settings;
  const auto config = server::ReadConfig(sources);
  ASSERT_TRUE(config.ok()) << config.status();
  log_ = std::make_unique<server::JsonLog>(server::LogLevel::kInfo, log_text_);
  auto started = server::Server::Start(
      *config,
      [this](const query::Question&, const base::Budget& budget,
             base::Executor&) { return Predict(budget); },
      *log_);
  ASSERT_TRUE(started.ok()) << started.status();
  server_ = *std::move(started);
  channel_ = grpc::CreateChannel(server_->grpc_address(),
                                 grpc::InsecureChannelCredentials());
  stub_ = prism::v1::PredictionService::NewStub(channel_);
}

ServerTest::~ServerTest() { Release(); }

absl::StatusOr<Prediction> ServerTest::Predict(const base::Budget& budget) {
  ++begun_;
  Prediction prediction;
  prediction.set_quality(prism::v1::QUALITY_EXACT);
  while (held_) {
    if (budget.Cancelled()) {
      ++cancelled_;
      return absl::CancelledError("cancelled");
    }
    if (budget.Remaining() <= absl::ZeroDuration()) {
      prediction.set_quality(prism::v1::QUALITY_REDUCED);
      break;
    }
    absl::SleepFor(absl::Milliseconds(1));
  }
  if (!failure_.ok()) return failure_;
  prediction.set_nominal_step_seconds(2);
  prediction.mutable_sampling()->set_samples(100);
  return prediction;
}

grpc::Status ServerTest::Ask(const Question& question, Prediction* prediction,
                             absl::Duration timeout) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       absl::ToChronoMilliseconds(timeout));
  prism::v1::PredictResponse response;
  const grpc::Status status =
      stub_->Predict(&context, RequestOf(question), &response);
  if (status.ok()) *prediction = response.predictions(0);
  return status;
}

std::unique_ptr<ServerTest::OpenCall> ServerTest::AskLater(
    const Question& question) {
  auto call = std::make_unique<OpenCall>();
  call->request = RequestOf(question);
  stub_->async()->Predict(&call->context, &call->request, &call->response,
                          [call = call.get()](grpc::Status status) {
                            call->status = std::move(status);
                            call->done = true;
                            call->done.notify_all();
                          });
  return call;
}

ServerTest::OpenCall::~OpenCall() {
  context.TryCancel();
  Wait();
}

void ServerTest::AwaitPredictions(int count) const {
  while (begun_ < count) absl::SleepFor(absl::Milliseconds(1));
}

}  // namespace prism::testing
