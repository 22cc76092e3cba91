// prismctl explain: the same numbers in process and over the network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/integration/cli_test_process.h"

namespace prism::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kProfile[] = R"(
layout: {data: 4, pipeline: 2, tensor: 2, microbatches: 8}
forward:
  - {name: attention, compute: {lognormal: {mean: 4, cv: 0.1}}, count: 2,
     collective: {gamma: {mean: 0.5, cv: 0.3}}, sync: tensor}
backward: [{compute: {normal: {mean: 16, sd: 1}}}]
transfer: {shifted_exponential: {shift: 0.2, mean_excess: 0.1}}
gradient_sync: {gamma: {mean: 8, cv: 0.2}}
microbatch_load: {lognormal: {mean: 1, cv: 0.3}}
slowdown: {3: 1.1}
)";

constexpr char kJob[] = R"(
model: {layers: 8, hidden: 2048, heads: 16, vocabulary: 51200}
parallelism: {tensor: 2, pipeline: 2, data: 2}
training: {sequence: 2048, global_batch: 16, micro_batch: 2}
)";

constexpr char kCluster[] = "accelerator: a100-80gb-sxm\nnodes: 1\n";

json Explain(std::vector<std::string> arguments,
             const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  arguments.insert(arguments.end(), {"--format", "json"});
  const Finished finished = Prismctl(arguments);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  return json::parse(finished.out);
}

TEST(CliExplainTest, NumbersDoNotDependOnWhoComputesThem) {
  RunningServer server;
  const std::vector<std::vector<std::string>> questions = {
      {"explain", "--profile", WriteFile("p.yaml", kProfile), "--what-if",
       "sort-sequences", "--what-if", "rebalance-stages"},
      {"explain", "--job", WriteFile("job.yaml", kJob), "--cluster",
       WriteFile("cluster.yaml", kCluster), "--what-if",
       "scale:backward.layer=0.9"}};
  for (const auto& question : questions) {
    const json here = Explain(question, {"--threads", "1"});
    EXPECT_FALSE(here["explanation"]["causes"].empty());
    EXPECT_EQ(Explain(question, {"--threads", "3"})["explanation"],
              here["explanation"]);
    const json there = Explain(question, {"--server", server.address()});
    EXPECT_EQ(there["explanation"], here["explanation"]);
    EXPECT_EQ(there["signature"], here["signature"]);
    // Also from its cache.
    const json again = Explain(question, {"--server", server.address()});
    EXPECT_EQ(again["cache"], "HIT");
    EXPECT_EQ(again["explanation"], here["explanation"]);
  }
}

TEST(CliExplainTest, TheServerSaysWhatIsWrongByItsOption) {
  RunningServer server;
  const Finished finished =
      Prismctl({"explain", "--profile", WriteFile("p.yaml", kProfile),
                "--what-if", "freeze:attention", "--server", server.address()});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("--what-if: [0].freeze: is "
                                      "\"attention\", which names no source"));
}

}  // namespace
}  // namespace prism::testing
