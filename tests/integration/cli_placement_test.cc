// Placement and completion on the command line, with a real prismd: the same
// numbers in process and over the network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "server/temporary_folder.h"
#include "tests/integration/cli_test_process.h"

namespace prism::testing {
namespace {

using nlohmann::json;
using Arguments = std::vector<std::string>;

constexpr char kJob[] = R"(
model: {layers: 8, hidden: 2048, heads: 16, vocabulary: 51200}
parallelism: {tensor: 8, data: 2}
training: {sequence: 2048, global_batch: 16, micro_batch: 2}
)";

// Measured speeds, known and unknown.
constexpr char kCluster[] = R"(
name: lab
accelerator: a100-80gb-sxm
nodes: 8
node_names: [a, b, c, d, e, f, g, h]
node_states:
  - {node: 0, slowdown: 1}
  - {node: 1, measured_slowdown: {normal: {mean: 1.02, sd: 0.01}}}
  - {node: 2, slowdown: 1.3, failures_per_day: 0.5}
  - {node: 3, measured_slowdown: {normal: {mean: 1, sd: 0.01}}}
reliability: {failures_per_node_day: 0.1}
)";

constexpr char kCandidates[] =
    "- {nodes: [0, 1]}\n- {nodes: [0, 2]}\n- {nodes: [4, 3]}\n";

class CliPlacementTest : public ::testing::Test {
 protected:
  // Commands about the job on `cluster`, one of each kind.
  std::vector<Arguments> Commands(const std::string& cluster) {
    const std::string candidates = WriteFile("candidates.yaml", kCandidates);
    std::vector<Arguments> commands = {
        {"score", "--placements", candidates, "--objective", "quantile"},
        {"place", "--free", "0-5"},
        {"rank", "--nodes", "0-3"},
        {"complete", "--steps", "100000", "--deadline", "2d", "--spares", "1"}};
    for (Arguments& command : commands) {
      command.insert(command.end(), {"--job", WriteFile("job.yaml", kJob),
                                     "--cluster", cluster, "--format", "json"});
    }
    return commands;
  }

  static json Answer(Arguments arguments, const Arguments& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = Prismctl(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    return json::parse(finished.out);
  }

  // What is of one reply alone.
  static json WithoutReply(json answer) {
    for (const char* key : {"prediction_id", "cache", "cluster_version",
                            "valid_until", "elapsed_seconds"}) {
      EXPECT_EQ(answer.erase(key), 1u) << key;
    }
    return answer;
  }

  server::TemporaryFolder folder_;
  RunningServer server_{{"--data_folder", folder_.path()}};
  const Arguments there_ = {"--server", server_.address()};
};

TEST_F(CliPlacementTest, NumbersDoNotDependOnWhoComputesThem) {
  for (const Arguments& command : Commands(WriteFile("c.yaml", kCluster))) {
    const json here = WithoutReply(Answer(command, {"--threads", "1"}));
    EXPECT_EQ(WithoutReply(Answer(command, {"--threads", "3"})), here)
        << command.front();
    EXPECT_EQ(WithoutReply(Answer(command, there_)), here) << command.front();
  }
}

TEST_F(CliPlacementTest, ASecondAnswerOfAServerComesFromItsCache) {
  for (const Arguments& command : Commands(WriteFile("c.yaml", kCluster))) {
    const json first = Answer(command, there_);
    const json second = Answer(command, there_);
    EXPECT_EQ(first.at("cache"), "MISS") << command.front();
    EXPECT_EQ(second.at("cache"), "HIT") << command.front();
    EXPECT_EQ(WithoutReply(second), WithoutReply(first)) << command.front();
  }
}

TEST_F(CliPlacementTest, AStoredClusterIsTheDocumentThatWasPut) {
  const Finished put =
      Prismctl({"cluster", "put", "-"}, kCluster, server_.address());
  ASSERT_EQ(put.exit_code, 0) << put.err;
  const auto given = Commands(WriteFile("c.yaml", kCluster));
  const auto named = Commands("lab");
  for (size_t i = 0; i < given.size(); ++i) {
    const json by_document = Answer(given[i], there_);
    const json by_name = Answer(named[i], there_);
    EXPECT_EQ(WithoutReply(by_name), WithoutReply(by_document));
    EXPECT_EQ(by_document.at("cluster_version"), "");
    EXPECT_NE(by_name.at("cluster_version"), "");
  }
}

TEST_F(CliPlacementTest, NodesOfAStoredClusterHaveTheirNames) {
  const Finished put =
      Prismctl({"cluster", "put", "-"}, kCluster, server_.address());
  ASSERT_EQ(put.exit_code, 0) << put.err;
  const Finished placed =
      Prismctl({"place", "--job", WriteFile("job.yaml", kJob), "--cluster",
                "lab", "--free", "g h"},
               "", server_.address());
  EXPECT_EQ(placed.exit_code, 0) << placed.err;
  EXPECT_THAT(placed.out, ::testing::HasSubstr("\n  g h\n"));
  const Finished unknown =
      Prismctl({"place", "--job", WriteFile("job.yaml", kJob), "--cluster",
                "nowhere", "--free", "g h"},
               "", server_.address());
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_THAT(unknown.err, ::testing::HasSubstr("\"nowhere\""));
}

TEST_F(CliPlacementTest, WhatTheServerFindsWrongNamesTheOption) {
  const Finished put =
      Prismctl({"cluster", "put", "-"}, kCluster, server_.address());
  ASSERT_EQ(put.exit_code, 0) << put.err;
  const Finished finished =
      Prismctl({"rank", "--job", WriteFile("job.yaml", kJob), "--cluster",
                "lab", "--nodes", "0,99"},
               "", server_.address());
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err,
              ::testing::HasSubstr("  --nodes: [1]: is 99; must be"));
}

}  // namespace
}  // namespace prism::testing
