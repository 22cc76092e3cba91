// Stored clusters on the command line, with a real prismd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/temporary_folder.h"
#include "tests/integration/cli_test_process.h"

namespace prism::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kJob[] = R"(
model: {layers: 8, hidden: 2048, heads: 16, vocabulary: 51200}
parallelism: {tensor: 2, pipeline: 2, data: 2}
training: {sequence: 2048, global_batch: 16, micro_batch: 2}
)";

constexpr char kCluster[] = "name: lab\naccelerator: a100-80gb-sxm\nnodes: 2\n";

class CliClusterTest : public ::testing::Test {
 protected:
  Finished Run(const std::vector<std::string>& arguments,
               const std::string& in = "") {
    return Prismctl(arguments, in, server_.address());
  }

  std::string Answer(const std::vector<std::string>& arguments,
                     const std::string& in = "") {
    const Finished finished = Run(arguments, in);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  }

  std::string Predict(const std::string& cluster) {
    return Answer({"predict", "--job", WriteFile("job.yaml", kJob), "--cluster",
                   cluster, "--samples", "100", "--format", "json"});
  }

  server::TemporaryFolder folder_;
  RunningServer server_{{"--data_folder", folder_.path()}};
};

TEST_F(CliClusterTest, WhatIsPutCanBeReadListedChangedAndDeleted) {
  EXPECT_EQ(Answer({"cluster", "put", "-"}, kCluster),
            "stored lab, revision 1\n");
  EXPECT_EQ(Answer({"cluster", "get", "lab"}), kCluster);
  EXPECT_THAT(Answer({"cluster", "list"}), HasSubstr("lab"));
  EXPECT_EQ(Answer({"cluster", "update", "lab", "-"},
                   "nodes: [{node: 1, health: drained, reason: fan}]\n"),
            "updated lab, revision 2\n");
  const std::string drained =
      Answer({"cluster", "nodes", "lab", "--health", "drained"});
  EXPECT_THAT(drained, HasSubstr("drained  -         fan"));
  EXPECT_THAT(drained, Not(HasSubstr("healthy")));
  EXPECT_EQ(Answer({"cluster", "delete", "lab"}), "deleted lab\n");
  EXPECT_EQ(JsonValue(Answer({"cluster", "list", "--format", "json"}),
                      "next_page_token"),
            "\"\"");
  EXPECT_EQ(Run({"cluster", "get", "lab"}).exit_code, 3);
}

TEST_F(CliClusterTest, AnotherEtagIsRefused) {
  Answer({"cluster", "put", "-"}, kCluster);
  const Finished finished =
      Run({"cluster", "put", "-", "--etag", "-"}, kCluster);
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_THAT(finished.err, HasSubstr("ABORTED"));
}

TEST_F(CliClusterTest, WhatTheServerFindsWrongNamesTheFile) {
  Answer({"cluster", "put", "-"}, kCluster);
  const std::string file =
      WriteFile("update.yaml", "nodes: [{node: 7, slowdown: 2}]\n");
  const Finished finished = Run({"cluster", "update", "lab", file});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr(file + ": nodes[0].node: is 7"));
}

TEST_F(CliClusterTest, APredictionTakesTheClusterStored) {
  Answer({"cluster", "put", "-"}, kCluster);
  const std::string named = Predict("lab");
  const std::string given = Predict(WriteFile("cluster.yaml", kCluster));
  EXPECT_EQ(JsonValue(named, "signature"), JsonValue(given, "signature"));
  EXPECT_EQ(JsonValue(named, "step_time"), JsonValue(given, "step_time"));
  EXPECT_NE(JsonValue(named, "cluster_version"), "\"\"");
  EXPECT_EQ(JsonValue(given, "cluster_version"), "\"\"");
}

TEST_F(CliClusterTest, ANameThatNobodyPutIsToldWithTheReason) {
  const Finished finished =
      Run({"predict", "--job", WriteFile("job.yaml", kJob), "--cluster",
           "nowhere"});
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_THAT(finished.err, HasSubstr("under the name \"nowhere\""));
}

TEST(CliClusterWithoutServerTest, ANameIsAMissingFile) {
  const Finished finished =
      Prismctl({"predict", "--job", WriteFile("job.yaml", kJob), "--cluster",
                "nowhere"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("nowhere: does not exist"));
}

}  // namespace
}  // namespace prism::testing
