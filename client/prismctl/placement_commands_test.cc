#include "client/prismctl/placement_commands.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/prismctl/command_run.h"

namespace prism::prismctl {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Two nodes of eight GPUs.
constexpr char kJob[] = R"(
model: {layers: 8, hidden: 2048, heads: 16, vocabulary: 51200}
parallelism: {tensor: 8, data: 2}
training: {sequence: 2048, global_batch: 16, micro_batch: 2}
)";

// Node c is slow, node f has failed.
constexpr char kCluster[] = R"(
accelerator: a100-80gb-sxm
nodes: 6
node_names: [a, b, c, d, e, f]
node_states:
  - {node: 0, slowdown: 1}
  - {node: 1, slowdown: 1}
  - {node: 2, slowdown: 1.4}
  - {node: 3, slowdown: 1}
  - {node: 4, slowdown: 1}
  - {node: 5, slowdown: 1, health: failed}
)";

constexpr char kCandidates[] = R"(# The first, the slow one, one alike.
- {name: fast, nodes: [0, 1]}
- {name: slow, nodes: [0, 2]}
- nodes: [3, 4]
)";

class PlacementCommandsTest : public ::testing::Test {
 protected:
  CommandRun Run(const Command& command, std::vector<std::string> arguments,
                 const std::string& in = "", const std::string& server = "") {
    arguments.insert(arguments.begin(), {"--job", job_, "--cluster", cluster_});
    return RunOne(command, arguments, in, server);
  }

  json Answer(const Command& command, std::vector<std::string> arguments,
              const std::string& in = "") {
    arguments.insert(arguments.end(), {"--format", "json"});
    const CommandRun run = Run(command, arguments, in);
    EXPECT_EQ(run.code, kAnswered) << run.err;
    EXPECT_EQ(run.err, "");
    return json::parse(run.out);
  }

  const std::string job_ = TemporaryFile("job.yaml", kJob);
  const std::string cluster_ = TemporaryFile("cluster.yaml", kCluster);
};

TEST_F(PlacementCommandsTest, ScoreHoldsTheKeysOfTheContract) {
  const json answer =
      Answer(ScoreCommand(), {"--placements", "-"}, kCandidates);
  const json& placements = answer.at("placements");
  ASSERT_EQ(placements.size(), 3u);
  for (const json& scored : placements) {
    for (const char* key :
         {"name", "score", "step_time", "probability_best", "tied_group"}) {
      EXPECT_TRUE(scored.contains(key)) << key;
    }
    EXPECT_TRUE(scored.at("step_time").at("quantiles").contains("p99"));
  }
  EXPECT_EQ(placements[0].at("name"), "fast");
  EXPECT_EQ(placements[2].at("name"), "#2");
  EXPECT_EQ(placements[0].at("score"), 100);
  EXPECT_EQ(placements[2].at("tied_group"), 0);
  EXPECT_EQ(placements[1].at("tied_group"), 1);
  EXPECT_EQ(placements[1].at("probability_best"), 0);
  EXPECT_EQ(answer.at("cache"), "MISS");
}

TEST_F(PlacementCommandsTest, AListOfPlacementsIsTheDocumentThatHoldsIt) {
  const json whole =
      Answer(ScoreCommand(), {"--placements", "-"},
             R"({"placements": [{"nodes": [0, 1]}, {"nodes": [0, 2]}]})");
  for (const char* list :
       {R"([{"nodes": [0, 1]}, {"nodes": [0, 2]}])",
        "- {nodes: [0, 1]}\n- {nodes: [0, 2]}\n",
        "# comment\n---\n- nodes: [0, 1]\n- nodes: [0, 2]\n"}) {
    const json answer = Answer(ScoreCommand(), {"--placements", "-"}, list);
    EXPECT_EQ(answer.at("signature"), whole.at("signature")) << list;
    EXPECT_EQ(answer.at("placements"), whole.at("placements")) << list;
  }
}

TEST_F(PlacementCommandsTest, ScoreTakesWhatIfsFromTheRequest) {
  const std::string request = TemporaryFile("request.yaml", R"(
placements: [{name: replaced, nodes: [3, 4]}]
what_ifs:
  - {name: c mended, nodes: [{node: 2, slowdown: 1}]}
  - {name: a away, replace: [{node: 0, by: 3}]}
)");
  const json answer =
      Answer(ScoreCommand(), {"--request", request, "--placements", "-"},
             R"([{"name": "fast", "nodes": [0, 1]},
                 {"name": "slow", "nodes": [1, 2]}])");
  EXPECT_EQ(answer.at("placements").size(), 2u);
  ASSERT_EQ(answer.at("what_ifs").size(), 2u);
  const json& mended = answer.at("what_ifs")[0];
  EXPECT_EQ(mended.at("name"), "c mended");
  EXPECT_EQ(mended.at("placements")[1].at("tied_group"), 0);
  EXPECT_EQ(answer.at("placements")[1].at("tied_group"), 1);
}

TEST_F(PlacementCommandsTest, TheObjectiveIsAnOption) {
  const json mean = Answer(ScoreCommand(), {"--placements", "-"}, kCandidates);
  const json tail = Answer(ScoreCommand(),
                           {"--placements", "-", "--objective", "quantile",
                            "--risk-quantile", "0.99"},
                           kCandidates);
  EXPECT_NE(tail.at("signature"), mean.at("signature"));
}

TEST_F(PlacementCommandsTest, PlaceHoldsTheKeysOfTheContract) {
  const json answer = Answer(PlaceCommand(), {});
  ASSERT_EQ(answer.at("nodes").size(), 2u);
  for (const json& node : answer.at("nodes")) {
    EXPECT_NE(node, 2);
    EXPECT_NE(node, 5);
  }
  EXPECT_TRUE(answer.at("step_time").at("quantiles").contains("p01"));
  for (const char* other : {"random", "worst"}) {
    const json& compared = answer.at("compared_with").at(other);
    EXPECT_TRUE(compared.at("step_time").contains("mean_seconds")) << other;
    EXPECT_GE(compared.at("ratio"), 1) << other;
  }
  EXPECT_FALSE(answer.contains("placement"));
  EXPECT_EQ(answer.at("feasible"), true);
}

TEST_F(PlacementCommandsTest, PlaceTakesNodesByNumberRangeNameAndFile) {
  const json numbers = Answer(PlaceCommand(), {"--free", "2,3-4"});
  EXPECT_EQ(Answer(PlaceCommand(), {"--free", "c, d e"}).at("signature"),
            numbers.at("signature"));
  EXPECT_EQ(
      Answer(PlaceCommand(), {"--free", "-"}, "2\n3\n4\n").at("signature"),
      numbers.at("signature"));
  std::vector<int> nodes = numbers.at("nodes");
  EXPECT_THAT(nodes, ::testing::UnorderedElementsAre(3, 4));
}

TEST_F(PlacementCommandsTest, PlaceKeepsItsConstraints) {
  const json answer =
      Answer(PlaceCommand(), {"--exclude", "a,b", "--spares", "1"});
  std::vector<int> nodes = answer.at("nodes");
  EXPECT_THAT(nodes, ::testing::UnorderedElementsAre(3, 4));
  EXPECT_EQ(answer.at("spares"), json({2}));
}

TEST_F(PlacementCommandsTest, TextNamesTheNodes) {
  const CommandRun run = Run(PlaceCommand(), {"--free", "c,e"});
  EXPECT_EQ(run.code, kAnswered) << run.err;
  EXPECT_THAT(run.out, StartsWith("Nodes in rank order\n"));
  EXPECT_THAT(run.out, HasSubstr("c"));
  EXPECT_THAT(run.out, HasSubstr("e"));
  EXPECT_THAT(Run(ScoreCommand(), {"--placements", "-"}, kCandidates).out,
              StartsWith("Placements\n"));
  EXPECT_THAT(Run(RankCommand(), {}).out,
              StartsWith("Nodes, the fastest first\n"));
}

TEST_F(PlacementCommandsTest, TooFewNodesEndWithTheReason) {
  const CommandRun run =
      Run(PlaceCommand(), {"--free", "a", "--format", "json"});
  EXPECT_EQ(run.code, kInfeasible);
  EXPECT_EQ(json::parse(run.out).at("feasible"), false);
  EXPECT_THAT(run.err, StartsWith("prismctl: the job cannot run: "));
  EXPECT_EQ(Run(PlaceCommand(), {"--free", "a"}).out, "");
}

TEST_F(PlacementCommandsTest, RankOrdersTheNodesAskedFor) {
  const json nodes = Answer(RankCommand(), {"--nodes", "f,c,a"}).at("nodes");
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].at("name"), "a");
  EXPECT_EQ(nodes[0].at("performance_class"), 0);
  EXPECT_EQ(nodes[1].at("node"), 2);
  EXPECT_GT(nodes[1].at("relative_slowdown"), 1.1);
  EXPECT_EQ(nodes[2].at("performance_class"), 9999);
  EXPECT_EQ(nodes[2].at("health"), "failed");
}

struct WrongCase {
  Command command;
  std::vector<std::string> arguments;
  std::string in;
  const char* line;
};

TEST_F(PlacementCommandsTest, WrongInputNamesWhereItIsWrong) {
  const std::string request =
      TemporaryFile("request.yaml", "constraints: {spares: 1, within: rack}\n");
  for (const WrongCase& c : {
           WrongCase{ScoreCommand(),
                     {"--placements", "-"},
                     "- {nodes: [0]}",
                     "  standard input: [0].nodes: "},
           {ScoreCommand(),
            {"--placements", "-"},
            "- {nodes: [0, 1]}\n- {nodes: [0, 9]}",
            "  standard input: [1].nodes[1]: is 9; must be"},
           {ScoreCommand(),
            {"--placements", "-"},
            "- {nodes: [0, 1], nams: x}",
            "  standard input: [0].nams: "},
           {ScoreCommand(),
            {"--placements", "-"},
            "placements: 3",
            "  standard input: is 3; must be a list"},
           {ScoreCommand(),
            {"--placements", "-"},
            "[{\"nodes\": [0,",
            "  standard input: is not valid JSON: parse error at line 1"},
           {ScoreCommand(),
            {"--placements", "/no/file"},
            "",
            "  /no/file: does not exist; must be a file"},
           {PlaceCommand(), {"--free", "a,z"}, "", "  --free: has \"z\"; must"},
           {PlaceCommand(), {"--free", "0,1,0"}, "", "  --free: [2]: is 0"},
           {PlaceCommand(), {"--free", "0-9"}, "", "  --free: [6]: is 6; must"},
           {PlaceCommand(),
            {"--request", request, "--free", "0-9"},
            "",
            "  --free: [6]: is 6; must"},
           {PlaceCommand(),
            {"--request", request},
            "",
            "request.yaml: constraints.within: is \"rack\"; must be"},
           {PlaceCommand(), {"--exclude", "7"}, "", "  --exclude: [0]: is 7"},
           {PlaceCommand(),
            {"--within", "rack"},
            "",
            "  --within: is \"rack\""},
           {PlaceCommand(),
            {"--segment-nodes", "3"},
            "",
            "  --segment-nodes: is 3; must divide"},
           {RankCommand(), {"--nodes", "0,99"}, "", "  --nodes: [1]: is 99"},
       }) {
    const CommandRun run = Run(c.command, c.arguments, c.in);
    EXPECT_EQ(run.code, kWrongInput) << c.line;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(c.line));
  }
}

TEST_F(PlacementCommandsTest, ProblemsOfAllFilesComeAtOnce) {
  const CommandRun run =
      RunOne(ScoreCommand(), {"--job", "/no/job", "--cluster", cluster_,
                              "--placements", "/no/placements"});
  EXPECT_EQ(run.code, kWrongInput);
  EXPECT_EQ(run.err,
            "prismctl: the input is wrong\n"
            "  /no/job: does not exist; must be a file\n"
            "  /no/placements: does not exist; must be a file\n");
}

TEST_F(PlacementCommandsTest, UsageErrorsSayWhatIsWrong) {
  for (const WrongCase& c : {
           WrongCase{PlaceCommand(),
                     {"--risk-quantile", "1"},
                     "",
                     "--risk-quantile: is \"1\"; must be"},
           {ScoreCommand(), {"--risk-quantile", "x"}, "", "--risk-quantile"},
           {ScoreCommand(), {"--objective", "cost"}, "", "cost"},
           {PlaceCommand(), {"--spares", "-1"}, "", "--spares: is -1"},
           {PlaceCommand(),
            {"--segment-nodes", "9999999"},
            "",
            "--segment-nodes: is 9999999"},
           {RankCommand(), {"--threads", "0"}, "", "--threads: is 0"},
           {PlaceCommand(),
            {"--free", "-", "--exclude", "-"},
            "",
            "only one document"},
           {ScoreCommand(),
            {"--placements", "-", "--request", "-"},
            "",
            "only one document"},
           {RankCommand(), {"--free", "0"}, "", "--free"},
       }) {
    const CommandRun run = Run(c.command, c.arguments, c.in);
    EXPECT_EQ(run.code, kUsageError) << c.line;
    EXPECT_THAT(run.err, HasSubstr(c.line));
    EXPECT_EQ(run.out, "");
  }
}

TEST_F(PlacementCommandsTest, WhatIsMissingIsAUsageError) {
  for (auto* make : {ScoreCommand, PlaceCommand, RankCommand}) {
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{
             {}, {"--job", job_}, {"--cluster", cluster_}}) {
      const CommandRun run = RunOne(make(), arguments);
      EXPECT_EQ(run.code, kUsageError);
      EXPECT_THAT(run.err, HasSubstr("--cluster"));
    }
  }
  const CommandRun run = Run(ScoreCommand(), {});
  EXPECT_EQ(run.code, kUsageError);
  EXPECT_THAT(run.err, HasSubstr("give --placements"));
}

TEST_F(PlacementCommandsTest, ARequestMayHoldAll) {
  const std::string request = absl::StrCat(
      "job:", absl::StrReplaceAll(kJob, {{"\n", "\n  "}}),
      "\ncluster:", absl::StrReplaceAll(kCluster, {{"\n", "\n  "}}), "\n");
  const CommandRun run =
      RunOne(RankCommand(), {"--request", "-", "--format", "json"}, request);
  ASSERT_EQ(run.code, kAnswered) << run.err;
  EXPECT_EQ(json::parse(run.out).at("signature"),
            Answer(RankCommand(), {}).at("signature"));
}

TEST_F(PlacementCommandsTest, AWrongRequestIsNotSentToTheServer) {
  const CommandRun run =
      Run(RankCommand(), {"--nodes", "99"}, "", "127.0.0.1:1");
  EXPECT_EQ(run.code, kWrongInput);
  EXPECT_THAT(run.err, Not(HasSubstr("127.0.0.1")));
}

TEST_F(PlacementCommandsTest, AServerThatIsNotThereEndsWithItsAddress) {
  for (const Command& command :
       {ScoreCommand(), PlaceCommand(), RankCommand()}) {
    std::vector<std::string> arguments = {"--timeout", "300ms"};
    if (command.name == "score") {
      arguments.insert(arguments.end(), {"--placements", "-"});
    }
    const CommandRun run = Run(command, arguments, kCandidates, "127.0.0.1:1");
    EXPECT_EQ(run.code, kServerFailed) << command.name;
    EXPECT_THAT(run.err, HasSubstr("server at 127.0.0.1:1: UNAVAILABLE"));
  }
}

}  // namespace
}  // namespace prism::prismctl
