#include "client/prismctl/timeline_option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "client/prismctl/command_run.h"
#include "client/prismctl/predict_command.h"

namespace prism::prismctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kProfile[] = R"({
  "layout": {"pipeline": 2, "microbatches": 4},
  "forward": [{"compute": {"lognormal": {"mean": 4, "cv": 0.1}}}],
  "backward": [{"compute": 8}],
  "transfer": 0.5
})";

CommandRun Predict(std::vector<std::string> arguments,
                   const std::string& server = "") {
  arguments.insert(arguments.end(), {"--profile", "-", "--samples", "200"});
  return RunOne(PredictCommand(), std::move(arguments), kProfile, server);
}

std::string PathOf(const std::string& name) {
  return testing::TempDir() + std::to_string(getpid()) + "-" + name;
}

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TimelineOptionTest, TheEndingSaysWhatIsWritten) {
  const std::string trace = PathOf("t.json"), picture = PathOf("t.svg");
  const CommandRun first = Predict({"--timeline", trace});
  EXPECT_EQ(first.code, kAnswered) << first.err;
  EXPECT_THAT(first.out, StartsWith("Step time\n"));
  EXPECT_THAT(first.out, HasSubstr("Timeline in " + trace));
  EXPECT_EQ(first.err, "");
  EXPECT_THAT(TextOf(trace), StartsWith("{\"displayTimeUnit\""));

  const CommandRun second = Predict({"--timeline", picture});
  EXPECT_EQ(second.code, kAnswered) << second.err;
  EXPECT_THAT(TextOf(picture), StartsWith("<svg "));
}

TEST(TimelineOptionTest, TheTerminalShowsItAfterTheAnswer) {
  const CommandRun run = Predict({"--timeline", "-"});
  EXPECT_EQ(run.code, kAnswered) << run.err;
  EXPECT_THAT(run.out, StartsWith("Step time\n"));
  EXPECT_THAT(run.out, HasSubstr("\nStep, nominal: "));
  EXPECT_THAT(run.out, HasSubstr("\nStep, p99: "));
  EXPECT_THAT(run.out, Not(HasSubstr("\x1b")));
}

TEST(TimelineOptionTest, JsonStaysOneObject) {
  const std::string path = PathOf("j.json");
  const CommandRun run = Predict({"--timeline", path, "--format", "json"});
  EXPECT_EQ(run.code, kAnswered) << run.err;
  EXPECT_THAT(run.out, StartsWith("{"));
  EXPECT_THAT(run.out, Not(HasSubstr("Timeline")));
  EXPECT_TRUE(std::filesystem::exists(path));

  const CommandRun terminal = Predict({"--timeline", "-", "--format", "json"});
  EXPECT_EQ(terminal.code, kWrongInput);
  EXPECT_EQ(terminal.out, "");
  EXPECT_THAT(terminal.err,
              HasSubstr("--timeline: is -; must be a file where"));
}

TEST(TimelineOptionTest, TheFileIsThatOfTheSameQuestion) {
  const std::string first = PathOf("1.json"), second = PathOf("2.json");
  Predict({"--timeline", first, "--threads", "1"});
  Predict({"--timeline", second, "--threads", "3"});
  EXPECT_EQ(TextOf(first), TextOf(second));
  Predict({"--timeline", second, "--timeline-tasks"});
  EXPECT_NE(TextOf(first), TextOf(second));
  EXPECT_THAT(TextOf(second), HasSubstr("stream 0"));
}

TEST(TimelineOptionTest, AFileThatCannotBeWrittenIsToldBeforeAnything) {
  const CommandRun run = Predict({"--timeline", "/no/such/t.json"});
  EXPECT_EQ(run.code, kWrongInput);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err,
            "prismctl: --timeline: /no/such/t.json: cannot be written: "
            "/no/such is no folder; must be in one that is there\n");
}

TEST(TimelineOptionTest, AFileThatIsNotWrittenInTheEndLeavesNoAnswer) {
  const CommandRun run = Predict({"--timeline", "/proc/t.json"});
  EXPECT_EQ(run.code, kWrongInput);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("/proc/t.json: cannot be written: "));
}

TEST(TimelineOptionTest, RanksThatAreNotThereAreNamedByTheirOption) {
  const CommandRun run =
      Predict({"--timeline", "-", "--timeline-ranks", "0,2"});
  EXPECT_EQ(run.code, kWrongInput);
  EXPECT_THAT(run.err, HasSubstr("--timeline-ranks: [1]: is 2; must be from 0 "
                                 "to 1"));
}

TEST(TimelineOptionTest, AServerThatIsNotThereLeavesNoFile) {
  const std::string path = PathOf("none.json");
  const CommandRun run =
      Predict({"--timeline", path, "--timeout", "300ms"}, "127.0.0.1:1");
  EXPECT_EQ(run.code, kServerFailed);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TimelineOptionTest, UsageErrorsSayWhatIsAccepted) {
  struct Case {
    std::vector<std::string> arguments;
    const char* message;
  };
  for (const Case& c :
       {Case{{"--timeline", "t.png"},
             "is \"t.png\"; must end in .json (a trace) or .svg (a picture), "
             "or be - (the terminal)"},
        {{"--timeline-ranks", "1"}, "--timeline-ranks needs --timeline"},
        {{"--timeline-tasks"}, "--timeline-tasks needs --timeline"},
        {{"--timeline", "-", "--timeline-ranks", "1,x"}, "has \"x\"; must be"},
        {{"--timeline", "-", "--timeline-ranks", "0-9999"}, "at most 1024"}}) {
    const CommandRun run = Predict(c.arguments);
    EXPECT_EQ(run.code, kUsageError) << c.message;
    EXPECT_THAT(run.err, HasSubstr(c.message));
    EXPECT_EQ(run.out, "");
  }
}

TEST(ParseRanksTest, NumbersAndRanges) {
  EXPECT_THAT(*ParseRanks(""), ElementsAre());
  EXPECT_THAT(*ParseRanks("7"), ElementsAre(7));
  EXPECT_THAT(*ParseRanks("0-3, 9"), ElementsAre(0, 1, 2, 3, 9));
  EXPECT_EQ(ParseRanks("0-1023")->size(), 1024u);
  for (const char* wrong : {"a", "3-1", "1-2-3", "-1", "1-", "4294967296",
                            "0-1024", "0-1000,1001-2000"}) {
    EXPECT_EQ(ParseRanks(wrong).status().code(),
              absl::StatusCode::kInvalidArgument)
        << wrong;
  }
}

}  // namespace
}  // namespace prism::prismctl
