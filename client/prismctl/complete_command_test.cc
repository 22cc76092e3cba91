#include "client/prismctl/complete_command.h"

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
using ::testing::StartsWith;

// Forward and backward one after the other: 12 s, no variability.
constexpr char kProfile[] = R"({
  "forward": [{"compute": 4000}],
  "backward": [{"compute": 8000}]
})";

constexpr char kJob[] = R"(
model: {layers: 8, hidden: 2048, heads: 16, vocabulary: 51200}
parallelism: {tensor: 2, data: 4}
training: {sequence: 2048, global_batch: 16, micro_batch: 2}
)";

constexpr char kCluster[] = "accelerator: a100-80gb-sxm\nnodes: 4\n";

CommandRun Complete(const std::vector<std::string>& arguments,
                    const std::string& in = "",
                    const std::string& server = "") {
  return RunOne(CompleteCommand(), arguments, in, server);
}

// The answer for the profile, as JSON, with these options besides.
json ProfileAnswer(const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"--profile", "-", "--format", "json"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const CommandRun run = Complete(arguments, kProfile);
  EXPECT_EQ(run.code, kAnswered) << run.err;
  EXPECT_EQ(run.err, "");
  return json::parse(run.out);
}

TEST(ParseSecondsTest, TakesNumbersWithUnits) {
  for (const auto& [text, seconds] :
       std::vector<std::pair<std::string, double>>{{"90", 90},
                                                   {"90s", 90},
                                                   {"0", 0},
                                                   {"1.5s", 1.5},
                                                   {"15m", 900},
                                                   {"2.5h", 9000},
                                                   {"30d", 2592000},
                                                   {"1e3", 1000}}) {
    EXPECT_EQ(ParseSeconds(text), seconds) << text;
  }
}

TEST(ParseSecondsTest, TakesNothingElse) {
  for (const char* text :
       {"", "s", "h", "soon", "-1", "-1h", "inf", "nan", "1e308d", "1e400",
        "1 h 5 m", "5w", "5ms", "1h30", "infinity"}) {
    EXPECT_EQ(ParseSeconds(text), std::nullopt) << text;
  }
}

TEST(CompleteCommandTest, HoldsTheKeysOfTheContract) {
  const json answer = ProfileAnswer(
      {"--steps", "1000", "--deadline", "4h", "--failures-per-node-day", "5"});
  for (const char* quantile :
       {"p01", "p05", "p25", "p50", "p75", "p95", "p99"}) {
    // 12,000 s, give or take what the job as a whole may be off.
    EXPECT_GT(answer.at("completion_time").at("quantiles").at(quantile), 11000);
  }
  for (const char* key : {"mean_seconds", "standard_deviation_seconds"}) {
    EXPECT_TRUE(answer.at("completion_time").at(key).is_number()) << key;
    EXPECT_TRUE(answer.at("step_time").at(key).is_number()) << key;
  }
  EXPECT_GT(answer.at("probability_by_deadline"), 0.5);
  EXPECT_GT(answer.at("expected_failures"), 0);
  EXPECT_GT(answer.at("effective_training_time_ratio"), 0.5);
  EXPECT_GT(answer.at("checkpoint_interval_seconds"), 0);
  EXPECT_EQ(answer.at("feasible"), true);
  EXPECT_EQ(answer.at("signature").get<std::string>().size(), 64u);
  EXPECT_EQ(answer.at("cache"), "MISS");
  EXPECT_EQ(answer.at("quality"), "EXACT");
}

TEST(CompleteCommandTest, WithoutADeadlineThereIsNoProbability) {
  EXPECT_FALSE(
      ProfileAnswer({"--steps", "9"}).contains("probability_by_deadline"));
}

TEST(CompleteCommandTest, WithoutFailuresAndSpreadAllTimesAreKnown) {
  // 100 steps of 12 s, a write of 60 s after each ten and at the end.
  const json answer = ProfileAnswer(
      {"--steps", "100", "--failures-per-node-day", "0",
       "--checkpoint-interval", "2m", "--checkpoint-write", "1m"});
  const json& time = answer.at("completion_time");
  EXPECT_NEAR(time.at("mean_seconds").get<double>(), 1800, 1800 * 0.003);
  EXPECT_EQ(answer.at("expected_failures"), 0);
  EXPECT_EQ(answer.at("checkpoint_interval_seconds"), 120);
}

TEST(CompleteCommandTest, OptionsMeanWhatTheDocumentSays) {
  const std::string document = TemporaryFile("run.yaml", R"(
run:
  steps: 1000
  spares: 2
  checkpoints: {interval_seconds: 1800, blocking_seconds: 20}
  restarts: {seconds: 600}
  reliability: {failures_per_node_day: 0.5}
progress: {steps_done: 100}
deadline_seconds: 14400
)");
  const json written = ProfileAnswer({"--request", document});
  const json given =
      ProfileAnswer({"--steps", "1000", "--spares", "2",
                     "--checkpoint-interval", "30m", "--checkpoint-write",
                     "20s", "--restart", "10m", "--failures-per-node-day",
                     "0.5", "--steps-done", "100", "--deadline", "4h"});
  EXPECT_EQ(given.at("signature"), written.at("signature"));
  EXPECT_EQ(given.at("completion_time"), written.at("completion_time"));
}

TEST(CompleteCommandTest, AnOptionStandsAboveTheDocument) {
  const std::string document = TemporaryFile(
      "run.yaml", "run: {steps: 1000, checkpoints: {none: true}}\n");
  EXPECT_EQ(ProfileAnswer({"--request", document, "--steps", "10",
                           "--checkpoint-interval", "1m"})
                .at("signature"),
            ProfileAnswer({"--steps", "10", "--checkpoint-interval", "60"})
                .at("signature"));
}

TEST(CompleteCommandTest, ADocumentOfItsOwnReplacesThatOfTheRequest) {
  const std::string document = TemporaryFile(
      "run.yaml",
      "run: {steps: 10}\n"
      "profile: {forward: [{compute: 1}], backward: [{compute: 1}],\n"
      "          optimizer: 5}\n");
  EXPECT_EQ(ProfileAnswer({"--request", document}).at("signature"),
            ProfileAnswer({"--steps", "10"}).at("signature"));
}

TEST(CompleteCommandTest, WhatIfsComeInTheirOrder) {
  const std::string document = TemporaryFile("run.yaml", R"(
run: {steps: 1000}
what_ifs:
  - {name: twice, run: {steps: 2000}}
  - {name: often, run: {checkpoints: {interval_seconds: 120}}}
)");
  const json answer = ProfileAnswer({"--request", document});
  const json& what_ifs = answer.at("what_ifs");
  ASSERT_EQ(what_ifs.size(), 2u);
  EXPECT_EQ(what_ifs[0].at("name"), "twice");
  EXPECT_GT(what_ifs[0].at("completion_time").at("mean_seconds"),
            answer.at("completion_time").at("mean_seconds"));
  EXPECT_EQ(what_ifs[1].at("checkpoint_interval_seconds"), 120);
}

TEST(CompleteCommandTest, AJobTakesAClusterAndAPlacement) {
  const CommandRun run =
      Complete({"--job", TemporaryFile("job.yaml", kJob), "--cluster",
                TemporaryFile("cluster.yaml", kCluster), "--placement", "-",
                "--steps", "1000"},
               "nodes: [3]");
  EXPECT_EQ(run.code, kAnswered) << run.err;
  EXPECT_THAT(run.out, StartsWith("Completion\n"));
  EXPECT_THAT(run.out, HasSubstr("signature"));
}

TEST(CompleteCommandTest, AJobThatDoesNotFitCannotRun) {
  const std::string large = R"(
model: {layers: 96, hidden: 12288, heads: 96, vocabulary: 51200}
parallelism: {data: 8}
training: {sequence: 2048, global_batch: 8}
)";
  const std::vector<std::string> arguments = {
      "--job",   "-",  "--cluster", TemporaryFile("cluster.yaml", kCluster),
      "--steps", "10", "--format",  "json"};
  const CommandRun run = Complete(arguments, large);
  EXPECT_EQ(run.code, kInfeasible);
  EXPECT_EQ(json::parse(run.out).at("feasible"), false);
  EXPECT_THAT(run.err, StartsWith("prismctl: the job cannot run: "));
}

struct WrongCase {
  std::vector<std::string> arguments;
  const char* line;
};

TEST(CompleteCommandTest, WrongInputNamesWhereItIsWrong) {
  const std::string run = TemporaryFile("run.yaml", "run: {steps: 5}\n");
  const std::string wrong =
      TemporaryFile("wrong.yaml", "run: {steps: 5, spares: -1}\nprogres: {}\n");
  for (const WrongCase& c : {
           WrongCase{{}, "  --steps: is missing or 0; must be"},
           {{"--steps", "5", "--steps-done", "5"}, "  --steps-done: is 5"},
           {{"--request", run, "--steps-done", "9"}, "  --steps-done: is 9"},
           {{"--steps", "5", "--failures-per-node-day", "-1"},
            "  --failures-per-node-day: is -1; must be at least 0"},
           {{"--steps", "2000000000000"}, "  --steps: is 2000000000000"},
           {{"--request", wrong}, "wrong.yaml: run.spares: is -1"},
           {{"--request", wrong}, "wrong.yaml: progres: "},
           {{"--steps", "5", "--cluster", "/no/cluster"},
            "  /no/cluster: does not exist"},
           {{"--request", "/no/run.yaml"}, "  /no/run.yaml: does not exist"},
       }) {
    std::vector<std::string> arguments = {"--profile", "-"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    const CommandRun result = Complete(arguments, kProfile);
    EXPECT_EQ(result.code, kWrongInput) << c.line;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("prismctl: the input is wrong\n"));
    EXPECT_THAT(result.err, HasSubstr(c.line));
  }
}

TEST(CompleteCommandTest, UsageErrorsSayWhatIsWrong) {
  for (const WrongCase& c :
       {WrongCase{{"--deadline", "soon"}, "--deadline: is \"soon\"; must be"},
        {{"--deadline", "0"}, "--deadline: is \"0\"; must be above 0"},
        {{"--checkpoint-interval", "0s"}, "--checkpoint-interval: is \"0s\""},
        {{"--checkpoint-write", "-1"}, "--checkpoint-write: is"},
        {{"--restart", "1w"}, "--restart: is \"1w\""},
        {{"--failures-per-node-day", "few"}, "--failures-per-node-day: is"},
        {{"--steps", "-1"}, "--steps: is -1; must be at least 0"},
        {{"--steps-done", "-1"}, "--steps-done: is -1"},
        {{"--spares", "-1"}, "--spares: is -1"},
        {{}, "give either --job with --cluster, or --profile"},
        {{"--job", "a", "--profile", "b"}, "give either --job"},
        {{"--job", "a"}, "--job needs --cluster"},
        {{"--profile", "a", "--threads", "0"}, "--threads: is 0"},
        {{"--steps", "many"}, "many"},
        {{"--profile", "-", "--request", "-"}, "only one document"},
        {{"--placement", "-", "--job", "-", "--cluster", "a"},
         "only one document"}}) {
    const CommandRun run = Complete(c.arguments);
    EXPECT_EQ(run.code, kUsageError) << c.line;
    EXPECT_THAT(run.err, HasSubstr(c.line));
    EXPECT_EQ(run.out, "");
  }
}

TEST(CompleteCommandTest, AServerThatIsNotThereEndsWithItsAddress) {
  const CommandRun run =
      Complete({"--profile", "-", "--steps", "5", "--timeout", "300ms"},
               kProfile, "127.0.0.1:1");
  EXPECT_EQ(run.code, kServerFailed);
  EXPECT_THAT(run.err, HasSubstr("server at 127.0.0.1:1: UNAVAILABLE"));
}

}  // namespace
}  // namespace prism::prismctl
