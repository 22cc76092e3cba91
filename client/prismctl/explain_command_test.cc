#include "client/prismctl/explain_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/prismctl/command_run.h"

namespace prism::prismctl {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kProfile[] = R"({
  "layout": {"data": 2, "pipeline": 2, "microbatches": 4},
  "forward": [{"name": "attention",
               "compute": {"normal": {"mean": 4, "sd": 1}}}],
  "backward": [{"compute": 8}],
  "slowdown": {"3": 1.5}
})";

constexpr char kJob[] = R"(
model: {layers: 8, hidden: 2048, heads: 16, vocabulary: 51200}
parallelism: {tensor: 2, data: 4}
training: {sequence: 2048, global_batch: 16, micro_batch: 2}
)";

constexpr char kCluster[] = "accelerator: a100-80gb-sxm\nnodes: 4\n";

CommandRun Explain(const std::vector<std::string>& arguments,
                   const std::string& in = "", const std::string& server = "") {
  return RunOne(ExplainCommand(), arguments, in, server);
}

CommandRun ExplainProfile(std::vector<std::string> options) {
  options.insert(options.begin(), {"--profile", "-", "--samples", "200"});
  return Explain(options, kProfile);
}

TEST(ExplainCommandTest, ExplainsAProfile) {
  const CommandRun run = ExplainProfile({});
  EXPECT_EQ(run.code, kAnswered) << run.err;
  EXPECT_THAT(run.out, StartsWith("Step\n"));
  EXPECT_THAT(run.out, HasSubstr("rank 3 is 1.50 times as slow as its peers"));
  EXPECT_THAT(run.out, HasSubstr("\nThe step without each\n"));
}

TEST(ExplainCommandTest, ExplainsAJob) {
  const CommandRun run =
      Explain({"--job", TemporaryFile("job.yaml", kJob), "--cluster",
               TemporaryFile("cluster.yaml", kCluster), "--format", "json"});
  ASSERT_EQ(run.code, kAnswered) << run.err;
  const json answer = json::parse(run.out);
  EXPECT_TRUE(answer["feasible"]);
  EXPECT_EQ(answer["explanation"]["causes"][0]["by"], "kind");
  EXPECT_THAT(answer["explanation"]["sentences"], Not(SizeIs(0)));
}

TEST(ExplainCommandTest, ChangesAreAskedInOrder) {
  const CommandRun run =
      ExplainProfile({"--format", "json", "--what-if", "replace-rank:3",
                      "--what-if", "scale:forward.attention=0.5"});
  ASSERT_EQ(run.code, kAnswered) << run.err;
  const json what_ifs = json::parse(run.out)["explanation"]["what_ifs"];
  ASSERT_THAT(what_ifs, SizeIs(2));
  EXPECT_EQ(what_ifs[0]["change"], "replace-rank:3");
  EXPECT_EQ(what_ifs[1]["change"], "scale:forward.attention=0.5");
  EXPECT_LT(what_ifs[0]["step"]["p50_seconds"],
            what_ifs[1]["step"]["p50_seconds"]);
}

TEST(ExplainCommandTest, DrawsATornado) {
  const std::string path = TemporaryFile("tornado.svg", "");
  const CommandRun run = ExplainProfile({"--svg", path});
  EXPECT_EQ(run.code, kAnswered) << run.err;
  std::ifstream file(path);
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(svg, StartsWith("<svg "));
  EXPECT_THAT(svg, HasSubstr(">rank 3</text>"));
}

TEST(ExplainCommandTest, WhatIsWrongIsNamedByItsOption) {
  CommandRun run = ExplainProfile({"--what-if", "freeze:backwards"});
  EXPECT_EQ(run.code, kWrongInput);
  EXPECT_THAT(run.err, HasSubstr("--what-if: [0].freeze: is \"backwards\", "
                                 "which names no source; must be one of "
                                 "forward.attention"));
  EXPECT_EQ(run.out, "");
  run = Explain({"--profile", "-", "--samples", "7"}, kProfile);
  EXPECT_EQ(run.code, kWrongInput);
  EXPECT_THAT(run.err, HasSubstr("--samples: is 7; must be"));
}

TEST(ExplainCommandTest, WrongUsage) {
  for (const auto& [arguments, problem] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "give either --job with --cluster, --profile or --trace"},
           {{"--trace", "t", "--profile", "p"}, "give either --trace"},
           {{"--trace", "t", "--what-if", "freeze:forward"},
            "ask prismctl replay"},
           {{"--job", "j", "--profile", "p"}, "give either --job"},
           {{"--job", "j"}, "--job needs --cluster"},
           {{"--profile", "p", "--what-if", "faster"},
            "--what-if: is \"faster\"; must be scale:SOURCE=FACTOR"},
           {{"--profile", "p", "--svg", "t.png"}, "must end in .svg"},
           {{"--profile", "p", "--samples", "-1"}, "--samples: is -1"}}) {
    const CommandRun run = Explain(arguments);
    EXPECT_EQ(run.code, kUsageError) << problem;
    EXPECT_THAT(run.err, HasSubstr(problem));
  }
}

TEST(ExplainCommandTest, APictureThatCannotBeWrittenIsSaidAtOnce) {
  const CommandRun run = ExplainProfile({"--svg", "/nowhere/t.svg"});
  EXPECT_EQ(run.code, kWrongInput);
  EXPECT_THAT(run.err, HasSubstr("--svg: /nowhere/t.svg: "));
}

}  // namespace
}  // namespace prism::prismctl
