#include "client/import/kineto_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "client/prismctl/command_line.h"
#include "core/query/document.h"
#include "prism/v1/step_profile.pb.h"

namespace prism::import {
namespace {

using prismctl::ExitCode;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kTrace[] = R"({"traceEvents": [
{"ph": "X", "cat": "kernel", "name": "k", "ts": 10, "dur": 5, "args": {}},
{"ph": "X", "cat": "kernel", "name": "k", "ts": 30, "dur": 10, "args": {}},
{"ph": "X", "cat": "user_annotation", "name": "turn", "ts": 0, "dur": 50}
]})";

std::string Data(const std::string& name) {
  return PRISM_SOURCE_DIR "/tests/data/profiler-traces-kineto/" + name;
}

struct Result {
  ExitCode code;
  std::string out, err;
};

Result Prismctl(std::vector<std::string> arguments,
                const std::string& input = "") {
  std::istringstream in(input);
  std::ostringstream out, err;
  prismctl::Session session{in, out, err, {}, {}, false};
  const ExitCode code = prismctl::RunCommandLine(
      arguments, {"1.2.3", {KinetoCommand(), ChakraCommand()}}, session);
  return {code, out.str(), err.str()};
}

prism::v1::StepProfile ReadProfile(const std::string& text) {
  prism::v1::StepProfile profile;
  base::Violations violations;
  query::ReadDocument(text, &profile, violations);
  EXPECT_TRUE(violations.empty()) << text;
  return profile;
}

TEST(KinetoCommandTest, WritesAProfileThatReadsBackAndSaysHowNearItIs) {
  for (const std::string format : {"text", "json"}) {
    const Result result =
        Prismctl({"kineto", Data("nccl_data.json.gz"), "--format", format});
    EXPECT_EQ(result.code, prismctl::kAnswered);
    const auto profile = ReadProfile(result.out);
    EXPECT_EQ(profile.name(), "nccl_data");
    EXPECT_EQ(profile.layout().data(), 1u);
    EXPECT_EQ(profile.compute_regime().empirical().samples_size(), 3);
    EXPECT_THAT(result.err,
                HasSubstr("measured 222.4 ms a step on average; the profile "
                          "predicts 222.4 ms"));
    EXPECT_THAT(result.err, HasSubstr("traces of 1 of 2 ranks were read"));
  }
}

TEST(KinetoCommandTest, JoinsRanks) {
  const Result result = Prismctl({"kineto", Data("sampled_rank-0.json.gz"),
                                  Data("sampled_rank-1.json.gz")});
  EXPECT_EQ(result.code, prismctl::kAnswered);
  const auto profile = ReadProfile(result.out);
  EXPECT_EQ(profile.layout().data(), 2u);
  EXPECT_EQ(profile.slowdown_size(), 2);
  EXPECT_EQ(profile.forward(1).sync(), prism::v1::SYNC_DATA);
}

TEST(KinetoCommandTest, SummarizesForPeople) {
  const Result result =
      Prismctl({"kineto", Data("nccl_data.json.gz"), "--summary"});
  EXPECT_EQ(result.code, prismctl::kAnswered);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("3 steps of 1 rank: 222.4 ms on average"),
                    HasSubstr("exposed communication"), HasSubstr("all-reduce"),
                    HasSubstr("ncclKernel_AllReduce")));
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 80u) << line;
}

TEST(KinetoCommandTest, SummarizesForPrograms) {
  const Result result = Prismctl(
      {"kineto", Data("nccl_data.json.gz"), "--summary", "--format", "json"});
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["steps"].size(), 3u);
  EXPECT_EQ(json["marked_by"], "profiler-step");
  EXPECT_EQ(json["collectives"][0]["bytes"], 306684384);
  EXPECT_EQ(json["traces"][0]["streams"].size(), 2u);
  EXPECT_NEAR(json["predicted"]["error"], 0, 1e-3);
  double parts = 0;
  const auto& rank = json["steps"][0]["ranks"][0];
  for (const char* part : {"compute_seconds", "exposed_communication_seconds",
                           "exposed_copy_seconds", "idle_seconds"})
    parts += rank[part].get<double>();
  EXPECT_NEAR(parts, json["steps"][0]["seconds"], 1e-9);
}

TEST(KinetoCommandTest, ReadsStandardInputAndSettings) {
  const Result whole = Prismctl({"kineto", "-"}, kTrace);
  EXPECT_THAT(whole.err, HasSubstr("measured 30.00 us a step"));
  const Result marked = Prismctl({"kineto", "-", "--set", "step=turn"}, kTrace);
  EXPECT_THAT(marked.err, HasSubstr("measured 50.00 us a step"));
  const Result device = Prismctl(
      {"kineto", "-", "--set", "step=turn", "--set", "clock=device"}, kTrace);
  EXPECT_THAT(device.err, HasSubstr("measured 30.00 us a step"));
}

TEST(KinetoCommandTest, NamesDamageAndGoesOn) {
  std::string text = kTrace;
  text.insert(text.find("\"name\": \"k\", \"ts\": 30"), "oops ");
  const Result result = Prismctl({"kineto", "-"}, text);
  EXPECT_EQ(result.code, prismctl::kAnswered);
  EXPECT_THAT(result.err, AllOf(HasSubstr("standard input has 1 damaged place"),
                                HasSubstr("byte 93: parse error")));
  EXPECT_THAT(result.err, HasSubstr("measured 5.000 us"));
}

TEST(KinetoCommandTest, SaysWhatIsWrong) {
  struct Case {
    std::vector<std::string> arguments;
    std::string input;
    const char* what;
  };
  const Case cases[] = {
      {{"kineto", "/nowhere"}, "", "/nowhere: does not exist"},
      {{"kineto", "/tmp"}, "", "/tmp: is a directory"},
      {{"kineto", "-"}, "", "shows no device activity in 0 events; is empty"},
      {{"kineto", "-"}, "layout: 3", "is not JSON"},
      {{"kineto", "-"}, "{\"a\": 1}", "has no traceEvents"},
      {{"kineto", "-", "--set", "clock=wall"},
       kTrace,
       "clock: is wall; must be host or device"},
      {{"kineto", "-", "--set", "steps=x"}, kTrace, "steps"},
      {{"kineto", "-", "--set", "step=x"},
       kTrace,
       "no device activity lies in annotations that begin with \"x\""}};
  for (const Case& test : cases) {
    const Result result = Prismctl(test.arguments, test.input);
    EXPECT_EQ(result.code, prismctl::kWrongInput) << test.what;
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(result.err, HasSubstr(test.what));
  }
}

TEST(ChakraCommandTest, WritesAProfile) {
  const Result result = Prismctl({"chakra", Data("resnet.chakra.et.gz")});
  EXPECT_EQ(result.code, prismctl::kAnswered);
  EXPECT_EQ(ReadProfile(result.out).layout().data(), 1u);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("starts are not recorded"), HasSubstr("0.00%)")));
}

TEST(ChakraCommandTest, SummarizesDeviceAndHost) {
  EXPECT_THAT(
      Prismctl({"chakra", Data("resnet.chakra.et.gz"), "--summary"}).out,
      HasSubstr("all-reduce"));
  const Result text =
      Prismctl({"chakra", Data("resnet_2gpu_et.json.gz"), "--summary"});
  EXPECT_EQ(text.code, prismctl::kAnswered);
  EXPECT_THAT(text.out, AllOf(HasSubstr("14,392 operators of the host in 3"),
                              HasSubstr("all-reduce")));
  const Result json = Prismctl({"chakra", Data("resnet_2gpu_et.json.gz"),
                                "--summary", "--format", "json"});
  EXPECT_EQ(
      nlohmann::json::parse(json.out)["collectives"]["all-reduce"]["bytes"],
      306684384);
}

TEST(ChakraCommandTest, SaysWhatIsWrong) {
  const Result host = Prismctl({"chakra", Data("resnet_2gpu_et.json.gz")});
  EXPECT_EQ(host.code, prismctl::kWrongInput);
  EXPECT_THAT(host.err, HasSubstr("which holds no times"));
  const Result both = Prismctl(
      {"chakra", Data("resnet_2gpu_et.json.gz"), Data("resnet.chakra.et.gz")});
  EXPECT_THAT(both.err, HasSubstr("is a trace of the host; give it alone"));
  const Result kineto =
      Prismctl({"chakra", Data("mi250_minitoy.json.gz"), "--summary"});
  EXPECT_THAT(kineto.err, HasSubstr("has no nodes"));
  const Result nothing = Prismctl({"chakra", "-"}, "");
  EXPECT_EQ(nothing.code, prismctl::kWrongInput);
  EXPECT_THAT(nothing.err, HasSubstr("is empty"));
}

}  // namespace
}  // namespace prism::import
