#include "client/prismctl/cluster_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "client/prismctl/cluster_text.h"
#include "client/prismctl/command_line.h"

namespace prism::prismctl {
namespace {

using ::testing::HasSubstr;

struct Result {
  ExitCode code;
  std::string out;
  std::string err;
};

Result RunCluster(std::vector<std::string> arguments,
                  const std::string& in = "",
                  const std::string& server = "127.0.0.1:1") {
  arguments.insert(arguments.begin(), "cluster");
  arguments.insert(arguments.begin(), {"--timeout", "200ms"});
  std::istringstream input(in);
  std::ostringstream out;
  std::ostringstream err;
  Session session{input, out, err, {.server = server}, {}, false};
  const ExitCode code =
      RunCommandLine(arguments, {"1.2.3", {ClusterCommand()}}, session);
  return {code, out.str(), err.str()};
}

TEST(ClusterCommandTest, WithoutAServerItSaysThatOneIsNeeded) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"list"},
                                             {"get", "a"},
                                             {"nodes", "a"},
                                             {"delete", "a"},
                                             {"put", "-"},
                                             {"update", "a", "-"}}) {
    const Result result = RunCluster(arguments, "", "");
    EXPECT_EQ(result.code, kUsageError) << arguments[0];
    EXPECT_THAT(result.err, HasSubstr("--server"));
    EXPECT_EQ(result.out, "");
  }
}

TEST(ClusterCommandTest, AWrongClusterIsNotSent) {
  const Result result = RunCluster(
      {"put", "-"}, "name: Bad\naccelerator: a100-80gb-sxm\nnodes: 0\n");
  EXPECT_EQ(result.code, kWrongInput);
  EXPECT_THAT(result.err, HasSubstr("standard input: name: is \"Bad\""));
  EXPECT_THAT(result.err, HasSubstr("standard input: nodes: "));
}

TEST(ClusterCommandTest, ANameOnTheCommandLineCountsInsteadOfTheDocuments) {
  const Result result = RunCluster({"put", "-", "--name", "good"},
                                   "accelerator: a100-80gb-sxm\nnodes: 2\n");
  EXPECT_EQ(result.code, kServerFailed);
  EXPECT_THAT(result.err, HasSubstr("server at 127.0.0.1:1: UNAVAILABLE"));
}

TEST(ClusterCommandTest, AnUpdateThatIsNoDocumentIsNotSent) {
  const Result result =
      RunCluster({"update", "a", "-"}, "nodes: [{node: 1, health: ill}]\n");
  EXPECT_EQ(result.code, kWrongInput);
  EXPECT_THAT(result.err, HasSubstr("standard input: nodes[0].health: "));
}

TEST(ClusterCommandTest, WrongUsage) {
  EXPECT_EQ(RunCluster({}).code, kUsageError);
  EXPECT_EQ(RunCluster({"get"}).code, kUsageError);
  EXPECT_EQ(RunCluster({"update", "a"}).code, kUsageError);
  EXPECT_EQ(RunCluster({"nodes", "a", "--health", "ill"}).code, kUsageError);
}

TEST(ClusterTextTest, ListsClusters) {
  prism::v1::ListClustersResponse clusters;
  auto& cluster = *clusters.add_clusters();
  cluster.set_name("longhorn");
  cluster.set_accelerator("v100");
  cluster.set_nodes(98);
  cluster.set_unhealthy_nodes(2);
  cluster.set_revision(12);
  EXPECT_EQ(ClustersText(clusters),
            "name      accelerator  nodes  unhealthy  revision\n"
            "longhorn  v100            98          2        12\n");
}

TEST(ClusterTextTest, ListsNodes) {
  prism::v1::ListNodesResponse nodes;
  nodes.add_nodes()->set_health(prism::v1::HEALTH_HEALTHY);
  auto& slow = *nodes.add_nodes();
  slow.set_node(11);
  slow.set_health(prism::v1::HEALTH_DRAINED);
  slow.set_slowdown(1.25);
  slow.set_reason("fan");
  EXPECT_EQ(NodesText(nodes),
            "node  name  health   slowdown  reason\n"
            "0     -     healthy  -\n"
            "11    -     drained  1.25      fan\n");
}

}  // namespace
}  // namespace prism::prismctl
