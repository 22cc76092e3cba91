// What prismctl says about wrong documents: exit code 1, one message that
// names file, field, value and what is accepted, nothing on standard output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/integration/cli_test_process.h"

namespace prism::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kJob[] = R"(
model: {layers: 8, hidden: 2048, heads: 16, vocabulary: 51200}
parallelism: {tensor: 2, pipeline: 2, data: 2}
training: {sequence: 2048, global_batch: 16, micro_batch: 2}
)";

constexpr char kCluster[] = "accelerator: a100-80gb-sxm\nnodes: 1\n";

constexpr char kProfile[] = R"(
layout: {data: 2, pipeline: 2, tensor: 1, microbatches: 4}
forward: [{compute: 4}]
backward: [{compute: {lognormal: {mean: 8, cv: 0.1}}}]
)";

// Replaces one part of a document that is right.
struct WrongCase {
  const char* from;
  const char* to;
  const char* field;
  // What the line of the problem must hold besides: the value, what is
  // accepted.
  std::vector<const char*> says;
};

std::string Replaced(std::string text, const WrongCase& c) {
  const size_t at = text.find(c.from);
  EXPECT_NE(at, std::string::npos) << c.from;
  return text.replace(at, std::string(c.from).size(), c.to);
}

// The line about `field` of `file`; all of `err` where there is none.
std::string ProblemLine(const std::string& err, const std::string& file,
                        const std::string& field) {
  const size_t start = err.find("  " + file + ": " + field + ":");
  if (start == std::string::npos) return err;
  return err.substr(start, err.find('\n', start) - start);
}

void ExpectRefused(const Finished& finished, const std::string& file,
                   const WrongCase& c) {
  SCOPED_TRACE(std::string(c.from) + " -> " + c.to);
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, StartsWith("prismctl: the input is wrong\n"));
  const std::string line = ProblemLine(finished.err, file, c.field);
  EXPECT_THAT(line, StartsWith("  " + file + ": " + c.field + ": "));
  for (const char* word : c.says) EXPECT_THAT(line, HasSubstr(word));
}

void ExpectProfileRefused(const WrongCase& c) {
  const std::string file = WriteFile("p.yaml", Replaced(kProfile, c));
  ExpectRefused(Prismctl({"predict", "--profile", file}), file, c);
}

void ExpectJobRefused(const WrongCase& c) {
  const std::string job = WriteFile("job.yaml", Replaced(kJob, c));
  const std::string cluster = WriteFile("cluster.yaml", kCluster);
  ExpectRefused(Prismctl({"predict", "--job", job, "--cluster", cluster}), job,
                c);
}

void ExpectClusterRefused(const WrongCase& c) {
  const std::string job = WriteFile("job.yaml", kJob);
  const std::string cluster = WriteFile("cluster.yaml", Replaced(kCluster, c));
  ExpectRefused(Prismctl({"predict", "--job", job, "--cluster", cluster}),
                cluster, c);
}

TEST(CliDocumentsTest, TheDocumentsAreRightBeforeTheyAreChanged) {
  EXPECT_EQ(Prismctl({"predict", "--samples", "100", "--profile",
                      WriteFile("p.yaml", kProfile)})
                .exit_code,
            0);
  EXPECT_EQ(Prismctl({"predict", "--samples", "100", "--job",
                      WriteFile("job.yaml", kJob), "--cluster",
                      WriteFile("cluster.yaml", kCluster)})
                .exit_code,
            0);
}

TEST(CliDocumentsTest, RefusesKeysAndWordsItDoesNotKnow) {
  for (const WrongCase& c :
       {WrongCase{
            "layout:", "schedul: gpipe\nlayout:", "schedul", {"schedule"}},
        {"compute: 4",
         "compute: 4, colective: 1",
         "forward[0].colective",
         {"collective"}},
        {"cv: 0.1", "cw: 0.1", "backward[0].compute.lognormal.cw", {"cv"}},
        {"compute: 4",
         "compute: {weibull: {mean: 4}}",
         "forward[0].compute.weibull",
         {"lognormal"}},
        {"layout:",
         "schedule: zigzag\nlayout:",
         "schedule",
         {"zigzag", "gpipe", "1f1b", "interleaved"}},
        {"compute: 4",
         "compute: 4, sync: all",
         "forward[0].sync",
         {"all", "none", "tensor", "data"}}}) {
    ExpectProfileRefused(c);
  }
}

TEST(CliDocumentsTest, RefusesSizesThatAreZeroNegativeOrAbsurd) {
  for (const WrongCase& c :
       {WrongCase{"data: 2", "data: -2", "layout.data", {"-2"}},
        {"data: 2", "data: 99999999999", "layout.data", {"99999999999"}},
        {"data: 2", "data: 2097152", "layout.data", {"2097152", "1048576"}},
        {"compute: 4",
         "compute: 4, count: 0",
         "forward[0].count",
         {"0", "from 1"}},
        {"data: 2", "data: 2.5", "layout.data", {"2.5"}}}) {
    ExpectProfileRefused(c);
  }
  for (const WrongCase& c :
       {WrongCase{"layers: 8", "layers: 0", "model.layers", {"0", "1"}},
        {"layers: 8",
         "layers: 4000000000",
         "model.layers",
         {"4000000000", "10000"}},
        {"sequence: 2048", "sequence: 0", "training.sequence", {"0", "1"}},
        {"global_batch: 16",
         "global_batch: 0",
         "training.global_batch",
         {"0"}}}) {
    ExpectJobRefused(c);
  }
  ExpectClusterRefused({"nodes: 1", "nodes: 0", "nodes", {"0", "1"}});
  ExpectClusterRefused(
      {"nodes: 1", "nodes: 9999999", "nodes", {"9999999", "1048576"}});
}

TEST(CliDocumentsTest, RefusesNumbersThatAreNoneOrOutOfRange) {
  for (const WrongCase& c :
       {WrongCase{"compute: 4", "compute: .nan", "forward[0].compute", {"nan"}},
        {"compute: 4", "compute: .inf", "forward[0].compute", {"inf"}},
        {"compute: 4",
         "compute: -4",
         "forward[0].compute",
         {"-4", "at least 0"}},
        {"mean: 8",
         "mean: -8",
         "backward[0].compute.lognormal.mean",
         {"-8", "above 0"}},
        {"mean: 8",
         "mean: 0",
         "backward[0].compute.lognormal.mean",
         {"0", "above 0"}},
        {"mean: 8",
         "mean: .nan",
         "backward[0].compute.lognormal.mean",
         {"nan"}},
        {"cv: 0.1",
         "cv: -0.1",
         "backward[0].compute.lognormal.cv",
         {"-0.1", "at least 0"}}}) {
    ExpectProfileRefused(c);
  }
}

TEST(CliDocumentsTest, RefusesDistributionsWithoutContent) {
  for (const WrongCase& c :
       {WrongCase{"compute: 4",
                  "compute: {mixture: []}",
                  "forward[0].compute.mixture",
                  {}},
        {"compute: 4",
         "compute: {mixture: [{weight: 0, distribution: 1}]}",
         "forward[0].compute.mixture",
         {"0"}},
        {"compute: 4",
         "compute: {mixture: [{weight: -1, distribution: 1}]}",
         "forward[0].compute.mixture[0].weight",
         {"-1", "at least 0"}},
        {"compute: 4",
         "compute: {empirical: {samples: []}}",
         "forward[0].compute.empirical.samples",
         {}},
        {"compute: 4",
         "compute: {empirical: {samples: [1, -1]}}",
         "forward[0].compute.empirical.samples[1]",
         {"-1", "at least 0"}}}) {
    ExpectProfileRefused(c);
  }
}

TEST(CliDocumentsTest, RefusesRanksAndListsThatDoNotFitTheLayout) {
  for (const WrongCase& c : {WrongCase{"layout:",
                                       "slowdown: {9: 1.1}\nlayout:",
                                       "slowdown[9]",
                                       {"9", "3"}},
                             {"layout:",
                              "slowdown: {0: 0}\nlayout:",
                              "slowdown[0]",
                              {"0", "above 0"}},
                             {"layout:",
                              "stage_scale: [1, 1, 1]\nlayout:",
                              "stage_scale",
                              {"3", "2"}},
                             {"layout:",
                              "stage_scale: [1, -1]\nlayout:",
                              "stage_scale[1]",
                              {"-1", "above 0"}},
                             {"pipeline: 2",
                              "pipeline: 2, virtual: 2",
                              "layout.virtual",
                              {"2", "must be 1 for the 1f1b schedule"}},
                             {"compute: 4",
                              "compute: 4, sync: data",
                              "forward[0].sync",
                              {"data", "pipeline"}}}) {
    ExpectProfileRefused(c);
  }
}

TEST(CliDocumentsTest, RefusesTextForNumbersAndNumbersForText) {
  for (const WrongCase& c :
       {WrongCase{"data: 2", "data: two", "layout.data", {"two", "integer"}},
        {"mean: 8",
         "mean: fast",
         "backward[0].compute.lognormal.mean",
         {"fast", "number"}},
        {"forward: [{compute: 4}]", "forward: 4", "forward", {"4", "list"}},
        {"forward: [{compute: 4}]", "forward: [4]", "forward[0]", {"4"}}}) {
    ExpectProfileRefused(c);
  }
  ExpectJobRefused(
      {"layers: 8", "layers: eight", "model.layers", {"eight", "integer"}});
}

TEST(CliDocumentsTest, RefusesDocumentsWithoutRequiredFields) {
  ExpectProfileRefused({"forward: [{compute: 4}]\n", "", "forward", {}});
  ExpectProfileRefused({"forward: [{compute: 4}]",
                        "forward: [{name: a}]",
                        "forward[0].compute",
                        {}});
  ExpectJobRefused({"hidden: 2048, ", "", "model.hidden", {}});
  ExpectJobRefused(
      {"training: {sequence: 2048, global_batch: 16, micro_batch: 2}",
       "",
       "training",
       {}});
  ExpectClusterRefused({"accelerator: a100-80gb-sxm", "", "accelerator", {}});
}

TEST(CliDocumentsTest, RefusesJobsThatDoNotDivide) {
  for (const WrongCase& c :
       {WrongCase{"global_batch: 16",
                  "global_batch: 18",
                  "training.global_batch",
                  {"18"}},
        {"pipeline: 2", "pipeline: 3", "model.layers", {"8", "divisible", "3"}},
        {"tensor: 2", "tensor: 3", "model.heads", {"16", "divisible", "3"}}}) {
    ExpectJobRefused(c);
  }
}

TEST(CliDocumentsTest, RefusesPlacementsThatDoNotFitTheCluster) {
  const std::string job = WriteFile("job.yaml", kJob);
  const std::string cluster = WriteFile("cluster.yaml", kCluster);
  for (const WrongCase& c : {WrongCase{"[0]", "[7]", "nodes[0]", {"7"}},
                             {"[0]", "[0, 0]", "nodes", {}},
                             {"[0]", "first", "nodes", {"first", "list"}}}) {
    const std::string placement =
        WriteFile("placement.yaml", Replaced("nodes: [0]\n", c));
    ExpectRefused(Prismctl({"predict", "--job", job, "--cluster", cluster,
                            "--placement", placement}),
                  placement, c);
  }
}

TEST(CliDocumentsTest, RefusesAcceleratorsItDoesNotKnow) {
  ExpectClusterRefused({"a100-80gb-sxm",
                        "a1000",
                        "accelerator",
                        {"a1000", "a100-80gb-sxm", "h100"}});
}

TEST(CliDocumentsTest, ListsAllProblemsOfAllFilesAtOnce) {
  const std::string job =
      WriteFile("job.yaml", "model: {layers: 0}\ntraining: {sequence: 0}\n");
  const std::string cluster = WriteFile("cluster.yaml", "nodes: 0\n");
  const Finished finished =
      Prismctl({"predict", "--job", job, "--cluster", cluster});
  EXPECT_EQ(finished.exit_code, 1);
  for (const std::string& field :
       {job + ": model.layers", job + ": training.sequence",
        cluster + ": nodes", cluster + ": accelerator"}) {
    EXPECT_THAT(finished.err, HasSubstr(field));
  }
}

struct UnreadableCase {
  std::string file;
  const char* says;
};

TEST(CliDocumentsTest, RefusesFilesThatHoldNoDocument) {
  for (const UnreadableCase& c :
       {UnreadableCase{"/no/such/file", "does not exist"},
        {::testing::TempDir(), "is a directory"},
        {WriteFile("empty", ""), "is empty"},
        {WriteFile("blank", " \n\n"), "is empty"},
        {"/dev/zero", "is larger than 64 MiB"},
        {WriteFile("binary", std::string("\x00\xff\xfe\x01", 4)), ""},
        {WriteFile("text", "just words"), ""},
        {WriteFile("list", "[1, 2]"), ""},
        {WriteFile("cut.json", "{\"forward\": [{\"compute\": "), "line"},
        {WriteFile("twice", "name: a\nname: b\n"), "name"}}) {
    const Finished finished = Prismctl({"predict", "--profile", c.file});
    EXPECT_EQ(finished.exit_code, 1) << c.file;
    EXPECT_EQ(finished.out, "") << c.file;
    EXPECT_THAT(finished.err, AllOf(HasSubstr(c.file), HasSubstr(c.says)));
  }
}

TEST(CliDocumentsTest, RefusesTheSameDocumentsBeforeAskingAServer) {
  const std::string file = WriteFile("p.yaml", "forward: []\n");
  const Finished finished =
      Prismctl({"--server", "127.0.0.1:1", "predict", "--profile", file});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr(file + ": forward: "));
}

}  // namespace
}  // namespace prism::testing
