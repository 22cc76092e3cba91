#include "client/prismctl/predict_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "client/prismctl/command_line.h"

namespace prism::prismctl {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kProfile[] = R"({
  "forward": [{"compute": {"lognormal": {"mean": 4, "cv": 0.1}}}],
  "backward": [{"compute": 8}],
  "layout": {"data": 4, "microbatches": 2}
})";

struct Result {
  ExitCode code;
  std::string out;
  std::string err;
};

Result Predict(std::vector<std::string> arguments, const std::string& in = "",
               const std::string& server = "") {
  arguments.insert(arguments.begin(), "predict");
  std::istringstream input(in);
  std::ostringstream out;
  std::ostringstream err;
  Session session{input, out, err, {.server = server}, {}, false};
  const ExitCode code =
      RunCommandLine(arguments, {"1.2.3", {PredictCommand()}}, session);
  return {code, out.str(), err.str()};
}

TEST(PredictCommandTest, AnswersAProfileFromStandardInput) {
  const Result result =
      Predict({"--profile", "-", "--samples", "100"}, kProfile);
  EXPECT_EQ(result.code, kAnswered) << result.err;
  EXPECT_THAT(result.out, StartsWith("Step time"));
  EXPECT_EQ(result.err, "");
}

TEST(PredictCommandTest, ThreadsChangeNoNumber) {
  const auto numbers = [](const std::string& threads) {
    const std::string out = Predict({"--profile", "-", "--samples", "3000",
                                     "--threads", threads, "--format", "json"},
                                    kProfile)
                                .out;
    const size_t start = out.find("\"step_time\"");
    return out.substr(start, out.find("\"p99\"", start) - start);
  };
  const std::string single = numbers("1");
  EXPECT_THAT(single, HasSubstr("\"p50\""));
  EXPECT_EQ(numbers("2"), single);
  EXPECT_EQ(numbers("8"), single);
}

TEST(PredictCommandTest, AnAnswerInProcessCarriesItsProvenance) {
  const std::string out =
      Predict({"--profile", "-", "--samples", "100", "--format", "json"},
              kProfile)
          .out;
  for (const char* key :
       {"\"prediction_id\": \"", "\"signature\": \"", "\"cache\": \"MISS\""}) {
    EXPECT_THAT(out, HasSubstr(key));
  }
}

TEST(PredictCommandTest, EveryProblemOfEveryFileIsListedAtOnce) {
  const Result result =
      Predict({"--job", "/no/job.yaml", "--cluster", "/no/cluster.yaml"});
  EXPECT_EQ(result.code, kWrongInput);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "prismctl: the input is wrong\n"
            "  /no/cluster.yaml: does not exist; must be a file\n"
            "  /no/job.yaml: does not exist; must be a file\n");
}

TEST(PredictCommandTest, AWrongDocumentIsNotSentToTheServer) {
  const Result result =
      Predict({"--profile", "-"}, R"({"forward": []})", "127.0.0.1:1");
  EXPECT_EQ(result.code, kWrongInput);
  EXPECT_THAT(result.err, HasSubstr("standard input: forward: "));
}

TEST(PredictCommandTest, AServerThatIsNotThereEndsWithItsAddress) {
  const Result result = Predict({"--profile", "-", "--timeout", "300ms"},
                                kProfile, "127.0.0.1:1");
  EXPECT_EQ(result.code, kServerFailed);
  EXPECT_THAT(result.err, HasSubstr("server at 127.0.0.1:1: UNAVAILABLE"));
  EXPECT_EQ(result.out, "");
}

struct UsageCase {
  std::vector<std::string> arguments;
  const char* message;
};

TEST(PredictCommandTest, UsageErrorsSayWhatIsWrong) {
  for (const UsageCase& c :
       {UsageCase{{}, "give either --job"},
        {{"--job", "a"}, "--job needs --cluster"},
        {{"--job", "a", "--profile", "b"}, "give either --job"},
        {{"--profile", "a", "--cluster", "b"}, "--profile stands alone"},
        {{"--profile", "a", "--placement", "b"}, "--profile stands alone"},
        {{"--job", "-", "--cluster", "-"}, "only one document"},
        {{"--profile", "a", "--no-variation"}, "--no-variation is for jobs"},
        {{"--profile", "a", "--samples", "99"}, "--samples: is 99"},
        {{"--profile", "a", "--samples", "10000001"}, "must be 100 to"},
        {{"--profile", "a", "--samples", "-1"}, "--samples: is -1"},
        {{"--profile", "a", "--threads", "0"}, "--threads: is 0"},
        {{"--profile", "a", "--method", "guess"}, "guess"}}) {
    const Result result = Predict(c.arguments);
    EXPECT_EQ(result.code, kUsageError) << c.message;
    EXPECT_THAT(result.err, HasSubstr(c.message));
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace prism::prismctl
