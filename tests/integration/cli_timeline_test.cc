// prismctl predict --timeline: the same file in process and over the network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/integration/cli_test_process.h"

namespace prism::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kProfile[] = R"(
layout: {data: 4, pipeline: 4, tensor: 2, microbatches: 8}
forward:
  - compute: {lognormal: {mean: 4, cv: 0.1}}
    collective: {gamma: {mean: 0.5, cv: 0.3}}
    sync: tensor
    count: 2
backward: [{compute: {normal: {mean: 16, sd: 1}}}]
transfer: {shifted_exponential: {shift: 0.2, mean_excess: 0.1}}
gradient_sync: {gamma: {mean: 8, cv: 0.2}}
optimizer: 2
slowdown: {3: 1.1}
)";

constexpr char kJob[] = R"(
model: {layers: 8, hidden: 2048, heads: 16, vocabulary: 51200}
parallelism: {tensor: 2, pipeline: 2, data: 2}
training: {sequence: 2048, global_batch: 16, micro_batch: 2}
)";

constexpr char kCluster[] = "name: lab\naccelerator: a100-80gb-sxm\nnodes: 1\n";

// A name of a file that is not there.
std::string NewPath(const std::string& name) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string path = ::testing::TempDir() + std::to_string(getpid()) +
                           "-" + test->name() + "-" + name;
  std::filesystem::remove(path);
  return path;
}

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Of 101 steps the 51st and the 100th are p50 and p99, not something between
// two steps.
std::vector<std::string> AskProfile() {
  return {"predict", "--profile", WriteFile("p.yaml", kProfile), "--samples",
          "101"};
}

std::vector<std::string> AskJob() {
  return {"predict",
          "--job",
          WriteFile("job.yaml", kJob),
          "--cluster",
          WriteFile("cluster.yaml", kCluster),
          "--samples",
          "100"};
}

// The file that the question leaves.
std::string FileOf(std::vector<std::string> arguments, const std::string& name,
                   const std::vector<std::string>& more = {}) {
  const std::string path = NewPath(name);
  arguments.insert(arguments.end(), {"--timeline", path});
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Finished finished = Prismctl(arguments);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  return TextOf(path);
}

TEST(CliTimelineTest, FilesDoNotDependOnWhoComputesThem) {
  RunningServer server;
  for (const auto& question : {AskProfile(), AskJob()}) {
    for (const std::string name : {"t.json", "t.svg"}) {
      const std::string here = FileOf(question, name, {"--threads", "1"});
      EXPECT_GT(here.size(), 1000u);
      EXPECT_EQ(FileOf(question, name, {"--threads", "3"}), here);
      EXPECT_EQ(FileOf(question, name, {"--server", server.address()}), here);
      // Also from its cache.
      EXPECT_EQ(FileOf(question, name, {"--server", server.address()}), here);
    }
  }
}

TEST(CliTimelineTest, ATraceIsOfTheStepsThatWerePredicted) {
  const std::string path = NewPath("t.json");
  std::vector<std::string> arguments = AskProfile();
  arguments.insert(
      arguments.end(),
      {"--method", "montecarlo", "--timeline", path, "--timeline-tasks",
       "--timeline-ranks", "0-2", "--format", "json"});
  const Finished finished = Prismctl(arguments);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto answer = nlohmann::json::parse(finished.out);
  const auto trace = nlohmann::json::parse(TextOf(path));

  std::map<std::pair<int, int64_t>, std::vector<std::pair<double, double>>>
      threads;
  std::map<int, double> seconds;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const double begin = event["ts"], end = begin + event["dur"].get<double>();
    threads[{event["pid"], event["tid"]}].emplace_back(begin, end);
    double& last = seconds[event["pid"]];
    last = std::max(last, end * 1e-6);
  }
  for (auto& [thread, spans] : threads) {
    std::sort(spans.begin(), spans.end());
    for (size_t i = 1; i < spans.size(); ++i) {
      // The sum of two times of three decimals is off by its rounding alone.
      EXPECT_GE(spans[i].first, spans[i - 1].second - 1e-6);
    }
  }
  // Times of a trace have nanoseconds.
  const auto& quantiles = answer["step_time"]["quantiles"];
  EXPECT_NEAR(seconds[1], answer["nominal_step_seconds"], 1e-9);
  EXPECT_NEAR(seconds[2], quantiles["p50"], 1e-9);
  EXPECT_NEAR(seconds[3], quantiles["p99"], 1e-9);
}

TEST(CliTimelineTest, AStoredClusterIsKnownByItsName) {
  const std::string data = NewPath("data");
  std::filesystem::create_directory(data);
  RunningServer server({"--data_folder", data});
  const std::string cluster = WriteFile("cluster.yaml", kCluster);
  ASSERT_EQ(Prismctl({"cluster", "put", cluster, "--server", server.address()})
                .exit_code,
            0);
  const std::string job = WriteFile("job.yaml", kJob);
  const std::vector<std::string> named = {
      "predict",   "--job", job,        "--cluster",     "lab",
      "--samples", "100",   "--server", server.address()};
  EXPECT_EQ(FileOf(named, "t.json"), FileOf(AskJob(), "t.json"));

  std::vector<std::string> wrong = named;
  wrong.insert(wrong.end(), {"--timeline", "-", "--timeline-ranks", "8"});
  const Finished finished = Prismctl(wrong);
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err,
              HasSubstr("--timeline-ranks: [0]: is 8; must be from 0 to 7"));
}

TEST(CliTimelineTest, ATerminalShowsAllThreeSteps) {
  for (auto arguments : {AskProfile(), AskJob()}) {
    arguments.insert(arguments.end(), {"--timeline", "-"});
    const Finished finished = Prismctl(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_THAT(finished.out, StartsWith("Step time\n"));
    for (const char* step : {"nominal", "typical", "p99"}) {
      EXPECT_THAT(finished.out, HasSubstr(std::string("\nStep, ") + step));
    }
  }
}

TEST(CliTimelineTest, AJobThatDoesNotFitIsDrawnAllTheSame) {
  const std::string path = NewPath("t.svg");
  const Finished finished = Prismctl(
      {"predict", "--job",
       WriteFile("large.yaml",
                 "model: {layers: 96, hidden: 12288, heads: 96, vocabulary: "
                 "51200}\nparallelism: {data: 8}\n"
                 "training: {sequence: 2048, global_batch: 8}\n"),
       "--cluster", WriteFile("cluster.yaml", kCluster), "--samples", "100",
       "--timeline", path});
  EXPECT_EQ(finished.exit_code, 4);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(TextOf(path), StartsWith("<svg"));
}

}  // namespace
}  // namespace prism::testing
