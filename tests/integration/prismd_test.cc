// The real prismd: exit codes, signals, drain.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/violations.h"
#include "core/query/document.h"
#include "prism/v1/prediction_service.grpc.pb.h"
#include "server/temporary_folder.h"
#include "tests/integration/prismd_process.h"

namespace prism::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// One question of sixteen ranks.
prism::v1::PredictRequest Request(uint64_t samples) {
  prism::v1::PredictRequest request;
  base::Violations violations;
  query::ReadDocument(
      "layout: {data: 4, pipeline: 4, microbatches: 16}\n"
      "forward: [{compute: {lognormal: {mean: 2, cv: 0.2}}}]\n"
      "backward: [{compute: {lognormal: {mean: 4, cv: 0.2}}}]\n",
      request.add_questions()->mutable_profile(), violations);
  EXPECT_TRUE(violations.empty()) << violations.list().front().description;
  request.mutable_questions(0)->set_samples(samples);
  return request;
}

grpc::Status Predict(const std::string& address, uint64_t samples,
                     prism::v1::PredictResponse* response,
                     std::chrono::milliseconds timeout) {
  auto stub = prism::v1::PredictionService::NewStub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + timeout);
  return stub->Predict(&context, Request(samples), response);
}

TEST(PrismdTest, PredictsAndExitsWithZeroOnSigterm) {
  PrismdProcess prismd({"--drain_notice_seconds=0"});
  prismd.AwaitListening();
  prism::v1::PredictResponse response;
  ASSERT_TRUE(
      Predict(prismd.grpc_address(), 100, &response, std::chrono::seconds(30))
          .ok());
  EXPECT_GT(response.predictions(0).step_time().quantiles().p50(), 0);
  prismd.Signal(SIGTERM);
  EXPECT_EQ(prismd.Wait(), 0);
}

TEST(PrismdTest, SigtermLetsACallInFlightEnd) {
  PrismdProcess prismd({"--drain_notice_seconds=0", "--drain_seconds=100"});
  prismd.AwaitListening();
  prism::v1::PredictResponse response;
  auto call = std::async(std::launch::async, [&] {
    return Predict(prismd.grpc_address(), 300'000, &response,
                   std::chrono::minutes(2));
  });
  // Long enough to begin; a slower machine only makes the test weaker.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  prismd.Signal(SIGTERM);
  const grpc::Status status = call.get();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(prismd.Wait(), 0);
}

TEST(PrismdTest, SecondSignalEndsAtOnce) {
  PrismdProcess prismd({"--drain_notice_seconds=300"});
  prismd.AwaitListening();
  prismd.Signal(SIGTERM);
  while (prismd.ReadLine().find("draining") == std::string::npos) {
  }
  prismd.Signal(SIGTERM);
  EXPECT_EQ(prismd.Wait(), 128 + SIGTERM);
}

TEST(PrismdTest, AddressInUseIsAnErrorWithItsName) {
  PrismdProcess first({});
  first.AwaitListening();
  PrismdProcess second({"--listen=" + first.grpc_address()});
  EXPECT_THAT(second.ReadAll(), HasSubstr(first.grpc_address()));
  EXPECT_EQ(second.Wait(), 1);
}

TEST(PrismdTest, WrongUsageExitsWithTwo) {
  PrismdProcess prismd({"--wrokers=3"});
  EXPECT_THAT(prismd.ReadAll(), HasSubstr("--wrokers"));
  EXPECT_EQ(prismd.Wait(), 2);
}

TEST(PrismdTest, WrongSettingExitsWithOne) {
  PrismdProcess prismd({"--queue_limit=none"});
  EXPECT_THAT(prismd.ReadAll(),
              AllOf(HasSubstr("--queue_limit"), HasSubstr("none"),
                    HasSubstr("a whole number from 1")));
  EXPECT_EQ(prismd.Wait(), 1);
}

TEST(PrismdTest, MissingFileExitsWithOne) {
  PrismdProcess prismd({"--config=/does/not/exist.yaml"});
  EXPECT_THAT(prismd.ReadAll(), HasSubstr("/does/not/exist.yaml"));
  EXPECT_EQ(prismd.Wait(), 1);
}

TEST(PrismdTest, CheckConfigStartsNothing) {
  PrismdProcess prismd({"--check_config"});
  EXPECT_EQ(prismd.Wait(), 0);
}

TEST(PrismdTest, PrintedConfigReadsBackToItself) {
  PrismdProcess first({"--print_config", "--workers=3"});
  const std::string printed = first.ReadAll();
  const std::string file = ::testing::TempDir() + "/prismd_printed.yaml";
  std::ofstream(file) << printed;
  PrismdProcess second({"--print_config", "--config=" + file});
  EXPECT_THAT(printed, HasSubstr("workers: 3"));
  EXPECT_EQ(second.ReadAll(), printed);
}

TEST(PrismdTest, ADamagedDataFolderEndsItWithTheFilesName) {
  const server::TemporaryFolder folder;
  const std::string file = folder.path() + "/clusters.sqlite";
  std::ofstream(file) << std::string(10000, 'x');
  PrismdProcess prismd({"--data_folder=" + folder.path()});
  EXPECT_THAT(prismd.ReadAll(), HasSubstr("prismd: " + file + ": "));
  EXPECT_EQ(prismd.Wait(), 1);
}

TEST(PrismdTest, ADataFolderServesOneProcess) {
  const server::TemporaryFolder folder;
  const std::vector<std::string> flags = {"--data_folder=" + folder.path()};
  PrismdProcess first(flags);
  first.AwaitListening();
  PrismdProcess second(flags);
  EXPECT_THAT(second.ReadAll(), HasSubstr("another process uses it"));
  EXPECT_EQ(second.Wait(), 1);
}

}  // namespace
}  // namespace prism::testing
