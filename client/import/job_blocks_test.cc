#include "client/import/job_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prism::import {
namespace {

using ::testing::ElementsAre;

// "TP=1 PP=2" for each job.
std::vector<std::string> Jobs(const std::string& text) {
  std::vector<std::string> jobs;
  for (const auto& statements : SplitJobs(ParseScript(text).statements)) {
    jobs.emplace_back();
    for (const Statement& statement : statements) {
      jobs.back() += jobs.back().empty() ? "" : " ";
      jobs.back() += statement.name + "=" + statement.text;
    }
  }
  return jobs;
}

TEST(JobBlocksTest, SplitsRunsThroughTheSameNames) {
  EXPECT_THAT(Jobs("M=x; TP=1; PP=2; B=3; TP=4; PP=5; B=6; N=y"),
              ElementsAre("M=x TP=1 PP=2 B=3 N=y", "M=x TP=4 PP=5 B=6 N=y"));
}

TEST(JobBlocksTest, LeavesEverythingElseWhole) {
  for (const std::string text :
       {"", "TP=1 PP=2 B=3", "TP=1 PP=2 TP=3 PP=4",
        "TP=1 PP=2 B=3 TP=4 B=5 PP=6", "TP=1 PP=2 B=3 TP=4 PP=5",
        "A=1 A=2 TP=1 PP=2 B=3 TP=4 PP=5 B=6",
        "L=(1) M=(2) N=(3) L=(4) M=(5) N=(6)"}) {
    EXPECT_EQ(SplitJobs(ParseScript(text).statements).size(), 1u) << text;
  }
}

}  // namespace
}  // namespace prism::import
