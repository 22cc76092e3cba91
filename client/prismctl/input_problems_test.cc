#include "client/prismctl/input_problems.h"

#include <gtest/gtest.h>

namespace prism::prismctl {
namespace {

InputProblems JobProblems() {
  return InputProblems({{"job", "job.yaml"}, {"cluster", "-"}});
}

std::string TextOf(const base::Violations& violations) {
  InputProblems problems = JobProblems();
  problems.AddOfQuestion(violations);
  return problems.Text();
}

base::Violations One(const std::string& field) {
  base::Violations violations;
  violations.Add(field, "is 0; must be at least 1");
  return violations;
}

TEST(InputProblemsTest, BeginsEmpty) { EXPECT_TRUE(JobProblems().empty()); }

TEST(InputProblemsTest, NamesTheFileThatHoldsTheField) {
  EXPECT_EQ(TextOf(One("job.model.layers")),
            "prismctl: the input is wrong\n"
            "  job.yaml: model.layers: is 0; must be at least 1\n");
}

TEST(InputProblemsTest, AServersPathNamesTheSameFile) {
  EXPECT_EQ(TextOf(One("questions[0].job.model.layers")),
            TextOf(One("job.model.layers")));
}

TEST(InputProblemsTest, ADashIsStandardInput) {
  EXPECT_EQ(TextOf(One("cluster.nodes")),
            "prismctl: the input is wrong\n"
            "  standard input: nodes: is 0; must be at least 1\n");
}

TEST(InputProblemsTest, WhatNoFileHoldsIsAnOption) {
  EXPECT_EQ(TextOf(One("samples")),
            "prismctl: the input is wrong\n"
            "  --samples: is 0; must be at least 1\n");
}

TEST(InputProblemsTest, TheLongestPathSaysWhatHoldsAField) {
  InputProblems problems({{"", "request.yaml"},
                          {"run.steps", "--steps"},
                          {"run", "run.yaml"},
                          {"free", "--free"}});
  base::Violations violations;
  for (const char* field : {"run.steps", "run.spares", "run.steps_more",
                            "free[2]", "free_nodes", "progress.failures"}) {
    violations.Add(field, "is wrong");
  }
  problems.AddOfQuestion(violations);
  EXPECT_EQ(problems.Text(),
            "prismctl: the input is wrong\n"
            "  --steps: is wrong\n"
            "  run.yaml: spares: is wrong\n"
            "  run.yaml: steps_more: is wrong\n"
            "  --free: [2]: is wrong\n"
            "  request.yaml: free_nodes: is wrong\n"
            "  request.yaml: progress.failures: is wrong\n");
}

TEST(InputProblemsTest, AProblemOfTheWholeFileHasNoField) {
  InputProblems problems = JobProblems();
  problems.AddToFile("job", "", "does not exist");
  EXPECT_EQ(problems.Text(),
            "prismctl: the input is wrong\n  job.yaml: does not exist\n");
}

TEST(InputProblemsTest, ProblemsThatFollowFromAnotherAreLeftOut) {
  for (const char* path :
       {"job.model", "job.model.layers", "job.model.layers[0]"}) {
    InputProblems problems = JobProblems();
    problems.AddToFile("job", "model.layers", "is \"many\"");
    problems.AddOfQuestion(One(path));
    EXPECT_EQ(problems.Text(),
              "prismctl: the input is wrong\n"
              "  job.yaml: model.layers: is \"many\"\n")
        << path;
  }
}

TEST(InputProblemsTest, ProblemsOfOtherFieldsAreKept) {
  InputProblems problems = JobProblems();
  problems.AddToFile("job", "model.layers", "is \"many\"");
  problems.AddOfQuestion(One("job.model.layers_more"));
  EXPECT_EQ(problems.Text(),
            "prismctl: the input is wrong\n"
            "  job.yaml: model.layers: is \"many\"\n"
            "  job.yaml: model.layers_more: is 0; must be at least 1\n");
}

TEST(InputProblemsTest, CountsWhatWasDropped) {
  base::Violations many;
  for (int i = 0; i < base::Violations::kMost + 3; ++i) many.Add("job", "bad");
  EXPECT_TRUE(TextOf(many).ends_with("  and 3 more\n"));
}

}  // namespace
}  // namespace prism::prismctl
