#include "client/prismctl/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace prism::prismctl {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What a made-up command was given.
struct Seen {
  bool ran = false;
  std::string file;
  std::optional<std::string> name;
  std::optional<int64_t> count;
  std::vector<std::string> set;
  bool loud = false;
  GlobalOptions global;
};

Command GreetCommand(Seen& seen) {
  Command command;
  command.name = "greet";
  command.summary = "Greet somebody";
  command.options = {{.name = "FILE", .help = "", .target = &seen.file},
                     {.name = "--name",
                      .help = "",
                      .target = &seen.name,
                      .choices = {"Ada", "Bob"}},
                     {.name = "--count", .help = "", .target = &seen.count},
                     {.name = "--set", .help = "", .target = &seen.set},
                     {.name = "--loud", .help = "", .target = &seen.loud}};
  command.usage_problem = [&seen] {
    return seen.count == 13 ? "--count: is 13" : "";
  };
  command.run = [&seen](Session& session) {
    seen.ran = true;
    seen.global = session.options;
    return kInfeasible;
  };
  return command;
}

struct Result {
  ExitCode code;
  std::string out;
  std::string err;
  Seen seen;
};

Result Prismctl(const std::vector<std::string>& arguments,
                const std::string& server = "") {
  Result result;
  Command group;
  group.name = "group";
  group.subcommands = {GreetCommand(result.seen)};
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Session session{in, out, err, {.server = server}, {}, false};
  result.code = RunCommandLine(
      arguments, {"1.2.3", {GreetCommand(result.seen), group}}, session);
  result.out = out.str();
  result.err = err.str();
  return result;
}

TEST(CommandLineTest, RunsACommandAndGivesItsExitCode) {
  const Result result = Prismctl({"greet"});
  EXPECT_TRUE(result.seen.ran);
  EXPECT_EQ(result.code, kInfeasible);
}

TEST(CommandLineTest, RunsACommandOfAGroup) {
  EXPECT_TRUE(Prismctl({"group", "greet"}).seen.ran);
}

TEST(CommandLineTest, FillsEveryKindOfOption) {
  const Seen seen =
      Prismctl({"greet", "--name", "Ada", "--count", "7", "--loud", "f.yaml"})
          .seen;
  EXPECT_EQ(seen.name, "Ada");
  EXPECT_EQ(seen.count, 7);
  EXPECT_TRUE(seen.loud);
  EXPECT_EQ(seen.file, "f.yaml");
}

TEST(CommandLineTest, AListOptionTakesOneValueEachTime) {
  const Seen seen =
      Prismctl({"greet", "--set", "A=1", "--set", "B=2", "file"}).seen;
  EXPECT_THAT(seen.set, ElementsAre("A=1", "B=2"));
  EXPECT_EQ(seen.file, "file");
}

TEST(CommandLineTest, ADashIsAValue) {
  EXPECT_EQ(Prismctl({"greet", "-"}).seen.file, "-");
}

TEST(CommandLineTest, OptionsThatAreNotGivenStayUnset) {
  EXPECT_EQ(Prismctl({"greet"}).seen.count, std::nullopt);
}

TEST(CommandLineTest, GlobalOptionsStandBeforeOrAfterTheCommand) {
  EXPECT_EQ(Prismctl({"--server", "a:1", "greet"}).seen.global.server, "a:1");
  EXPECT_EQ(Prismctl({"greet", "--server", "a:1"}).seen.global.server, "a:1");
  EXPECT_EQ(Prismctl({"greet", "--format", "json"}).seen.global.format,
            OutputFormat::kJson);
}

TEST(CommandLineTest, TheServerOptionWinsOverTheEnvironment) {
  EXPECT_EQ(Prismctl({"greet"}, "env:1").seen.global.server, "env:1");
  EXPECT_EQ(Prismctl({"--server", "a:1", "greet"}, "env:1").seen.global.server,
            "a:1");
}

TEST(CommandLineTest, AnEmptyServerMeansInProcess) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--server=", "greet"},
        {"greet", "--server="},
        {"greet", "--server", ""}}) {
    const Seen seen = Prismctl(arguments, "env:1").seen;
    EXPECT_TRUE(seen.ran);
    EXPECT_EQ(seen.global.server, "");
  }
}

TEST(CommandLineTest, ReadsTimeouts) {
  struct TimeoutCase {
    const char* text;
    absl::Duration timeout;
  };
  for (const TimeoutCase& c : {TimeoutCase{"2m", absl::Minutes(2)},
                               {"1.5", absl::Milliseconds(1500)},
                               {"250ms", absl::Milliseconds(250)}}) {
    EXPECT_EQ(Prismctl({"greet", "--timeout", c.text}).seen.global.timeout,
              c.timeout);
  }
}

TEST(CommandLineTest, RefusesTimeoutsThatAreNone) {
  for (const char* text : {"0", "-1s", "soon", "inf", "nan"}) {
    const Result result = Prismctl({"greet", "--timeout", text});
    EXPECT_EQ(result.code, kUsageError) << text;
    EXPECT_THAT(result.err, HasSubstr("--timeout: is")) << text;
  }
}

struct UsageCase {
  std::vector<std::string> arguments;
  const char* message;
};

TEST(CommandLineTest, UsageErrorsSayWhatIsWrong) {
  for (const UsageCase& c :
       {UsageCase{{}, "a command is missing"},
        {{"group"}, "a command is missing"},
        {{"gret"}, "unknown command 'gret'; did you mean greet?"},
        {{"group", "gret"}, "unknown command 'gret'; did you mean greet?"},
        {{"zzz"}, "unknown command 'zzz'\n"},
        {{"greet", "--cuont", "3"}, "--cuont; did you mean --count?"},
        {{"greet", "--count", "many"}, "--count"},
        {{"greet", "--count"}, "--count"},
        {{"greet", "--name", "Eve"}, "Ada"},
        {{"greet", "--count", "13"}, "--count: is 13"},
        {{"greet", "--format", "xml"}, "xml"},
        {{"greet", "a", "b"}, "'b' was not expected"}}) {
    const Result result = Prismctl(c.arguments);
    EXPECT_EQ(result.code, kUsageError) << c.message;
    EXPECT_THAT(result.err, HasSubstr(c.message));
    EXPECT_EQ(result.out, "") << c.message;
    EXPECT_FALSE(result.seen.ran) << c.message;
  }
}

TEST(CommandLineTest, UsageErrorsPointToHelp) {
  EXPECT_THAT(Prismctl({"group", "greet", "--bad"}).err,
              HasSubstr("Try 'prismctl help group greet'."));
}

TEST(CommandLineTest, ShowsTheVersion) {
  const Result result = Prismctl({"--version"});
  EXPECT_EQ(result.code, kAnswered);
  EXPECT_EQ(result.out, "prismctl 1.2.3\n");
}

TEST(CommandLineTest, HelpListsCommandsAndGlobalOptions) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"help"}, {"--help"}, {"-h"}}) {
    const Result result = Prismctl(arguments);
    EXPECT_EQ(result.code, kAnswered);
    EXPECT_THAT(result.out,
                AllOf(HasSubstr("Greet somebody"), HasSubstr("--server ADDR")));
  }
}

TEST(CommandLineTest, HelpOfACommandListsItsOptions) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"help", "group", "greet"},
        {"group", "greet", "--help"}}) {
    EXPECT_THAT(Prismctl(arguments).out,
                AllOf(HasSubstr("Usage: prismctl group greet"),
                      HasSubstr("--name"), HasSubstr("(Ada, Bob)")));
  }
}

TEST(CommandLineTest, HelpOfAnUnknownCommandIsAUsageError) {
  EXPECT_EQ(Prismctl({"help", "gret"}).code, kUsageError);
}

}  // namespace
}  // namespace prism::prismctl
