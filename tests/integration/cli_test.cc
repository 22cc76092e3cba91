// prismctl as a user runs it: the same numbers in process and over the
// network, on any number of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/integration/cli_test_process.h"

namespace prism::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kProfile[] = R"({
  "name": "small",
  "layout": {"data": 4, "pipeline": 2, "tensor": 2, "microbatches": 6},
  "schedule": "1f1b",
  "forward": [{"compute": {"lognormal": {"mean": 4, "cv": 0.1}},
               "collective": {"gamma": {"mean": 0.5, "cv": 0.3}},
               "sync": "tensor", "count": 2}],
  "backward": [{"compute": {"normal": {"mean": 8, "sd": 0.6}}}],
  "transfer": {"shifted_exponential": {"shift": 0.2, "mean_excess": 0.1}},
  "slowdown": {"3": 1.1}
})";

// The same in YAML, in another order and under another name.
constexpr char kProfileAsYaml[] = R"(# Means the same.
slowdown: {3: 1.1}
transfer:
  shifted_exponential: {mean_excess: 0.1, shift: 0.2}
backward:
  - compute: {normal: {mean: 8, sd: 0.6}}
forward:
  - count: 2
    sync: tensor
    collective: {gamma: {mean: 0.5, cv: 0.3}}
    compute: {lognormal: {mean: 4, cv: 0.1}}
schedule: 1f1b
layout: {microbatches: 6, tensor: 2, pipeline: 2, data: 4}
name: renamed
)";

constexpr char kJob[] = R"(name: tiny
model: {layers: 8, hidden: 2048, heads: 16, vocabulary: 51200}
parallelism: {tensor: 2, pipeline: 2, data: 2}
training: {sequence: 2048, global_batch: 16, micro_batch: 2}
)";

constexpr char kCluster[] = "accelerator: a100-80gb-sxm\nnodes: 1\n";

std::vector<std::string> AskProfile() {
  return {"predict",   "--profile", WriteFile("p.json", kProfile),
          "--samples", "2000",      "--format",
          "json"};
}

std::vector<std::string> AskJob(const std::string& job) {
  return {"predict",
          "--job",
          WriteFile("job.yaml", job),
          "--cluster",
          WriteFile("cluster.yaml", kCluster),
          "--samples",
          "1000",
          "--format",
          "json"};
}

std::string Answer(std::vector<std::string> arguments,
                   const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Finished finished = Prismctl(arguments);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  return finished.out;
}

TEST(CliTest, TheNumbersOfAProfileDoNotDependOnWhoComputesThem) {
  RunningServer server;
  const std::string here =
      JsonValue(Answer(AskProfile(), {"--threads", "1"}), "step_time");
  EXPECT_THAT(here, HasSubstr("p99"));
  for (const std::vector<std::string>& where :
       std::vector<std::vector<std::string>>{{"--threads", "2"},
                                             {"--threads", "8"},
                                             {"--server", server.address()}}) {
    EXPECT_EQ(JsonValue(Answer(AskProfile(), where), "step_time"), here)
        << where.front() << " " << where.back();
  }
}

TEST(CliTest, TheNumbersOfAJobDoNotDependOnWhoComputesThem) {
  RunningServer server;
  const std::string here = Answer(AskJob(kJob), {"--threads", "1"});
  const std::string there =
      Answer(AskJob(kJob), {"--server", server.address()});
  for (const char* key :
       {"step_time", "nominal_step_seconds", "memory", "breakdown",
        "tokens_per_second", "model_flops_utilization", "tflops_per_gpu",
        "signature"}) {
    EXPECT_NE(JsonValue(here, key), "") << key;
    EXPECT_EQ(JsonValue(there, key), JsonValue(here, key)) << key;
  }
}

TEST(CliTest, TheServersThreadsChangeNoNumber) {
  const std::string here = JsonValue(Answer(AskProfile(), {}), "step_time");
  for (const char* threads : {"1", "2", "8"}) {
    RunningServer server({"--workers", threads});
    EXPECT_EQ(JsonValue(Answer(AskProfile(), {"--server", server.address()}),
                        "step_time"),
              here)
        << threads;
  }
}

TEST(CliTest, ASecondAnswerOfAServerComesFromItsCache) {
  RunningServer server;
  const std::vector<std::string> there = {"--server", server.address()};
  EXPECT_EQ(JsonValue(Answer(AskProfile(), there), "cache"), "\"MISS\"");
  EXPECT_EQ(JsonValue(Answer(AskProfile(), there), "cache"), "\"HIT\"");
}

TEST(CliTest, ARenamedAndReorderedDocumentIsTheSameQuestion) {
  RunningServer server;
  const std::string first =
      Answer(AskProfile(), {"--server", server.address()});
  const std::string second =
      Answer({"predict", "--profile", WriteFile("p.yaml", kProfileAsYaml),
              "--samples", "2000", "--format", "json"},
             {"--server", server.address()});
  EXPECT_EQ(JsonValue(second, "cache"), "\"HIT\"");
  EXPECT_EQ(JsonValue(second, "step_time"), JsonValue(first, "step_time"));
}

TEST(CliTest, AnAnswerInProcessIsAlwaysAMiss) {
  EXPECT_EQ(JsonValue(Answer(AskProfile(), {}), "cache"), "\"MISS\"");
}

TEST(CliTest, ReadsADocumentFromStandardInput) {
  const Finished finished =
      Prismctl({"predict", "--profile", "-", "--samples", "100"}, kProfile);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, StartsWith("Step time\n"));
}

TEST(CliTest, TextOfAJobHasAllItsSections) {
  const Finished finished =
      Prismctl({"predict", "--job", WriteFile("job.yaml", kJob), "--cluster",
                WriteFile("cluster.yaml", kCluster), "--samples", "100"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  for (const char* section :
       {"Step time", "Throughput", "Memory", "spends its time", "signature"}) {
    EXPECT_THAT(finished.out, HasSubstr(section));
  }
}

TEST(CliTest, AJobThatDoesNotFitEndsWithTheReason) {
  const std::string large = R"(
model: {layers: 96, hidden: 12288, heads: 96, vocabulary: 51200}
parallelism: {data: 8}
training: {sequence: 2048, global_batch: 8}
)";
  const Finished finished = Prismctl(AskJob(large));
  EXPECT_EQ(finished.exit_code, 4);
  EXPECT_EQ(JsonValue(finished.out, "feasible"), "false");
  EXPECT_THAT(finished.err, StartsWith("prismctl: the job cannot run: "));
}

TEST(CliTest, AServerThatIsNotThereEndsWithItsAddress) {
  std::vector<std::string> arguments = AskProfile();
  arguments.insert(arguments.end(),
                   {"--server", "127.0.0.1:1", "--timeout", "500ms"});
  const Finished finished = Prismctl(arguments);
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr("127.0.0.1:1"));
}

TEST(CliTest, TheEnvironmentNamesTheServer) {
  std::vector<std::string> arguments = AskProfile();
  arguments.insert(arguments.end(), {"--timeout", "500ms"});
  EXPECT_EQ(Prismctl(arguments, "", "127.0.0.1:1").exit_code, 3);
}

TEST(CliTest, AnEmptyServerOptionOverridesTheEnvironment) {
  std::vector<std::string> arguments = AskProfile();
  arguments.push_back("--server=");
  EXPECT_EQ(Prismctl(arguments, "", "127.0.0.1:1").exit_code, 0);
}

TEST(CliTest, UsageErrorsEndWithTwo) {
  const Finished finished = Prismctl({"pedict"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr("did you mean predict?"));
}

TEST(CliTest, VersionAndHelpGoToStandardOutput) {
  for (const char* argument : {"--version", "help"}) {
    const Finished finished = Prismctl({argument});
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_NE(finished.out, "");
    EXPECT_EQ(finished.err, "");
  }
}

}  // namespace
}  // namespace prism::testing
