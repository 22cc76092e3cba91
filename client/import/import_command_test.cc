#include "client/import/import_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "client/import/golden_table.h"
#include "client/prismctl/command_line.h"
#include "core/query/document.h"

namespace prism::import {
namespace {

using prismctl::ExitCode;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kScript[] =
    "run --num-layers 24 --hidden-size 1024 --num-attention-heads 16 "
    "--seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 2 "
    "--nnodes 1 --nproc_per_node 8 --new-option ";

std::string Data(const std::string& name) {
  return std::string(PRISM_SOURCE_DIR "/tests/data/") + name;
}

struct Result {
  ExitCode code;
  std::string out;
  std::string err;
};

Result Prismctl(std::vector<std::string> arguments,
                const std::string& input = "") {
  arguments.insert(arguments.begin(), "import");
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  prismctl::Session session{in, out, err, {}, {}, false};
  const ExitCode code = prismctl::RunCommandLine(
      arguments, {"1.2.3", {ImportCommand()}}, session);
  return {code, out.str(), err.str()};
}

prism::v1::Job ReadJob(const std::string& text) {
  prism::v1::Job job;
  base::Violations violations;
  query::ReadDocument(text, &job, violations);
  EXPECT_TRUE(violations.empty()) << text << Descriptions(violations);
  return job;
}

TEST(ImportCommandTest, WritesAJobThatReadsBack) {
  const Result result = Prismctl({"megatron", "-"}, kScript);
  EXPECT_EQ(result.code, prismctl::kAnswered);
  EXPECT_EQ(ReadJob(result.out).model().layers(), 24u);
  EXPECT_EQ(ReadJob(result.out).name(), "job");
}

TEST(ImportCommandTest, WritesJsonWhenAsked) {
  const Result result =
      Prismctl({"--format", "json", "megatron", "-"}, kScript);
  EXPECT_THAT(result.out, StartsWith("{"));
  EXPECT_EQ(ReadJob(result.out).training().micro_batch(), 2u);
}

TEST(ImportCommandTest, WarnsOnStandardError) {
  const Result result = Prismctl({"megatron", "-"}, kScript);
  EXPECT_EQ(result.err,
            "prismctl: standard input: options that are not known are left "
            "out: --new-option\n");
}

TEST(ImportCommandTest, TakesSettings) {
  const Result result = Prismctl(
      {"megatron", "-", "--set", "num-layers=7", "--set", "micro-batch-size=3"},
      kScript);
  EXPECT_EQ(ReadJob(result.out).model().layers(), 7u);
  EXPECT_EQ(ReadJob(result.out).training().micro_batch(), 3u);
}

TEST(ImportCommandTest, SaysEverythingThatIsWrongOnStandardError) {
  const Result result = Prismctl({"megatron", "-"}, "run --num-layers $N");
  EXPECT_EQ(result.code, prismctl::kWrongInput);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err,
              AllOf(StartsWith("prismctl: standard input cannot be imported\n"
                               "  --hidden-size: is missing; give it with "
                               "--set hidden-size=VALUE\n"),
                    HasSubstr("  --num-layers: needs N, which no file defines; "
                              "give it with --set N=VALUE\n")));
}

TEST(ImportCommandTest, NamesFilesThatCannotBeRead) {
  const Result result = Prismctl({"megatron", "/nowhere/train.sh"});
  EXPECT_EQ(result.code, prismctl::kWrongInput);
  EXPECT_THAT(result.err, HasSubstr("/nowhere/train.sh: does not exist"));
}

TEST(ImportCommandTest, ReadsSeveralFilesAsOneScript) {
  const std::string scripts =
      Data("job-specs/Megatron-LM/academic_paper_scripts-sc21--");
  const std::vector<std::string> arguments = {
      "megatron", scripts + "CONFIG.sh.txt", scripts + "run_table_1.sh.txt",
      "--set", "GPUS_PER_NODE=8"};
  const Result yaml = Prismctl(arguments);
  EXPECT_EQ(yaml.code, prismctl::kAnswered) << yaml.err;
  size_t items = 0;
  std::istringstream lines(yaml.out);
  for (std::string line; std::getline(lines, line);)
    items += line.substr(0, 2) == "- " ? 1 : 0;
  EXPECT_EQ(items, 10u);
}

TEST(ImportCommandTest, ReadsConfigurations) {
  const Result result =
      Prismctl({"huggingface", Data("huggingface/llama-3-8b.json"), "--set",
                "sequence=8192"});
  EXPECT_EQ(ReadJob(result.out).training().sequence(), 8192u) << result.err;
}

TEST(ImportCommandTest, TakesOneConfigurationOnly) {
  const std::string file = Data("huggingface/gpt2.json");
  EXPECT_THAT(Prismctl({"huggingface", file, file}).err,
              HasSubstr("is one file too many"));
}

TEST(ImportCommandTest, NeedsAFile) {
  EXPECT_EQ(Prismctl({"megatron"}).code, prismctl::kUsageError);
}

TEST(JobsTextTest, WritesListsOfDocuments) {
  prism::v1::Job job;
  job.set_name("a");
  job.mutable_model()->set_layers(2);
  EXPECT_EQ(JobsText({job, job}, prismctl::OutputFormat::kText),
            "- name: a\n  model:\n    layers: 2\n"
            "- name: a\n  model:\n    layers: 2\n");
  EXPECT_THAT(JobsText({job, job}, prismctl::OutputFormat::kJson),
              AllOf(StartsWith("[{"), HasSubstr("},\n{"), HasSubstr("}]\n")));
}

}  // namespace
}  // namespace prism::import
