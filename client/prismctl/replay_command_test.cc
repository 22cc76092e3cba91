#include "client/prismctl/replay_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/prismctl/command_run.h"

namespace prism::prismctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;

std::string Data(const std::string& name) {
  return std::string(PRISM_SOURCE_DIR) + "/tests/data/straggler-whatif/" + name;
}

CommandRun Replay(std::vector<std::string> arguments) {
  return RunOne(ReplayCommand(), std::move(arguments));
}

Json RunJson(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const CommandRun run = Replay(std::move(arguments));
  EXPECT_EQ(run.code, kAnswered) << run.err;
  return Json::parse(run.out, nullptr, false);
}

TEST(ReplayCommandTest, TheAnswerHoldsTheKeysOfTheContract) {
  const Json json = RunJson({"--trace", Data("trace-ST.csv")});
  for (const char* part : {"measured", "simulated", "ideal"}) {
    const Json time = json.at(part).at("step_time");
    EXPECT_GT(time.at("mean_seconds"), 1) << part;
    EXPECT_TRUE(time.at("quantiles").contains("p95")) << part;
  }
  EXPECT_NEAR(json.at("simulated").at("step_time").at("mean_seconds"),
              2.172696813310722, 0.0001);
  EXPECT_NEAR(json.at("slowdown"), 1.1787, 0.001);
  const Json& by = json.at("slowdown_by");
  EXPECT_NEAR(by.at("operation").at("forward-compute"), 1.0875, 0.001);
  EXPECT_NEAR(by.at("stage").at("3"), 1.2323, 0.001);
  EXPECT_NEAR(by.at("rank").at("1"), 1.1779, 0.001);
  EXPECT_EQ(by.at("worker").size(), 8);
  EXPECT_NEAR(json.at("removed_by").at("last_stage"), 1.2194, 0.001);
  EXPECT_EQ(json.at("trace").at("steps"), 32);
  EXPECT_EQ(json.at("trace").at("operations"), 6784);
  EXPECT_THAT(json.at("trace").at("damage"), IsEmpty());
  EXPECT_THAT(std::string(json.at("culprits").at(0)), StartsWith("Stage 3 "));
  EXPECT_FALSE(json.contains("what_if"));
}

// Of steps like those recorded, so that means are alike: by a standard error of
// 32 recorded steps, 0.4%, three times.
TEST(ReplayCommandTest, StepsThatWereNotRecordedArePredicted) {
  const Json json = RunJson({"--trace", Data("trace-ST.csv")});
  const auto mean = [](const Json& time) -> double {
    return time.at("mean_seconds");
  };
  const Json& predicted = json.at("predicted");
  EXPECT_NEAR(mean(predicted.at("step_time")) /
                  mean(json.at("measured").at("step_time")),
              1, 0.012);
  EXPECT_NEAR(mean(predicted.at("simulated_step_time")) /
                  mean(json.at("simulated").at("step_time")),
              1, 0.012);
  EXPECT_FALSE(RunJson({"--trace", Data("trace-ST.csv"), "--steps", "1012"})
                   .contains("predicted"));
}

TEST(ReplayCommandTest, OnlyTheStepsAskedForAreReplayed) {
  const Json some =
      RunJson({"--trace", Data("trace-ST.csv"), "--steps", "250-300"});
  EXPECT_EQ(some.at("trace").at("steps"), 9);
  const Json one =
      RunJson({"--trace", Data("trace-ST.csv"), "--steps", "1012"});
  ASSERT_EQ(one.at("steps").size(), 1);
  EXPECT_EQ(one.at("steps").at(0).at("step"), 1012);
}

TEST(ReplayCommandTest, WhatIfsAreReplayedToo) {
  const Json json =
      RunJson({"--trace", Data("trace-ST.csv"), "--what-if", "freeze:stage:3",
               "--what-if", "scale:compute=0.5"});
  const Json& what_if = json.at("what_if");
  EXPECT_THAT(what_if.at("changes"),
              ElementsAre("freeze:stage:3", "scale:compute=0.5"));
  EXPECT_LT(what_if.at("step_time").at("mean_seconds"), 1.2);
}

TEST(ReplayCommandTest, TextSaysWhoIsToBlame) {
  const CommandRun run = Replay({"--trace", Data("trace-AR.csv"), "--what-if",
                                 "rebalance-stages:8,8,8,8"});
  EXPECT_EQ(run.code, kAnswered);
  EXPECT_THAT(run.out, HasSubstr("21,312 operations"));
  EXPECT_THAT(run.out, HasSubstr("Slowdown 1.97"));
  EXPECT_THAT(run.out, HasSubstr("- Data rank 0, stage 0 (rank 0) makes"));
  EXPECT_THAT(run.out, HasSubstr("instead of 8, 8, 8, 8"));
  EXPECT_EQ(run.err, "");
}

TEST(ReplayCommandTest, DamageIsSaidAndNotFatal) {
  std::string text =
      "dp_rank,stage,step,optype,start_ts,duration,colour\n"
      "0,0,1,tea,0,1,red\n"
      "0,0,1,forward-compute,0,1,red\n"
      "0,0,1,backward-compute,1,2,red\n"
      "0,0,1,optimizer,3,1,red\n"
      "0,0,2,forward-com";
  const std::string path = TemporaryFile("damaged.csv", text);
  const CommandRun run = Replay({"--trace", path, "--format", "json"});
  EXPECT_EQ(run.code, kAnswered);
  EXPECT_THAT(run.err, HasSubstr("\"colour\" column ignored"));
  EXPECT_THAT(run.err, HasSubstr("(tea); row left out"));
  EXPECT_THAT(run.err, HasSubstr("csv:6: the row has 4 of 7 fields; left out"));
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json.at("measured").at("step_time").at("mean_seconds"), 4);
  EXPECT_EQ(json.at("simulated").at("step_time").at("mean_seconds"), 4);
  EXPECT_EQ(json.at("trace").at("damage_count"), 4);
}

struct Wrong {
  std::vector<std::string> arguments;
  ExitCode code;
  std::string said;
};

TEST(ReplayCommandTest, WrongInputsAreNamed) {
  const std::vector<Wrong> cases = {
      {{}, kUsageError, "--trace"},
      {{"--trace", "x", "--steps", "9-3"}, kUsageError, "--steps"},
      {{"--trace", "x", "--steps", "-3"}, kUsageError, "--steps"},
      {{"--trace", "x", "--what-if", "hope"}, kUsageError, "no change known"},
      {{"--trace", "x", "--what-if", "scale:forward=-1"},
       kUsageError,
       "has no factor"},
      {{"--trace", "x", "--what-if", "freeze:stage:x"},
       kUsageError,
       "names no source"},
      {{"--trace", "no/such"}, kWrongInput, "no/such: does not exist"},
      {{"--trace", Data("trace-ST.csv"), "--steps", "1"},
       kWrongInput,
       "none of the steps asked for"},
      {{"--trace", Data("trace-ST.csv"), "--what-if", "freeze:stage:4"},
       kWrongInput,
       "the stages 0 to 3"},
      {{"--trace", Data("trace-ST.csv"), "--what-if", "replace-rank:8"},
       kWrongInput,
       "no worker of the job has that rank"},
      {{"--trace", Data("trace-ST.csv"), "--what-if", "rebalance-stages:8,8"},
       kWrongInput,
       "the job has 4 stages"},
  };
  for (const Wrong& wrong : cases) {
    const CommandRun run = Replay(wrong.arguments);
    EXPECT_EQ(run.code, wrong.code) << wrong.said;
    EXPECT_THAT(run.err, HasSubstr(wrong.said));
    EXPECT_EQ(run.out, "");
  }
}

}  // namespace
}  // namespace prism::prismctl
