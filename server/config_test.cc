#include "server/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace prism::server {
namespace {

using prism::v1::ServerConfig;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

ServerConfig Read(const ConfigSources& sources) {
  auto config = ReadConfig(sources);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.value_or(ServerConfig());
}

std::string Complaint(const ConfigSources& sources) {
  return std::string(ReadConfig(sources).status().message());
}

TEST(ConfigTest, EverySettingHasAnInitialValueInRange) {
  const ServerConfig initial = Read({});
  SettingTexts all;
  EXPECT_EQ(initial.listen(), "127.0.0.1:7450");
  EXPECT_EQ(initial.max_message_bytes(), 4194304u);
  EXPECT_TRUE(initial.reflection());
  for (const auto& setting : Settings()) {
    const auto open = setting.help.rfind('[');
    all[setting.name] =
        setting.help.substr(open + 1, setting.help.size() - open - 2);
  }
  EXPECT_EQ(Read({.flags = all}).SerializeAsString(),
            initial.SerializeAsString());
}

TEST(ConfigTest, FileWinsOverInitial) {
  EXPECT_EQ(Read({.file = {{"f", "workers: 3"}}}).workers(), 3u);
}

TEST(ConfigTest, EnvironmentWinsOverFile) {
  EXPECT_EQ(
      Read({.file = {{"f", "workers: 3"}}, .environment = {{"workers", "4"}}})
          .workers(),
      4u);
}

TEST(ConfigTest, FlagWinsOverEnvironment) {
  EXPECT_EQ(
      Read({.environment = {{"workers", "4"}}, .flags = {{"workers", "0"}}})
          .workers(),
      0u);
}

TEST(ConfigTest, EnvironmentIsReadByUpperCaseName) {
  const char* environment[] = {"PATH=/bin", "PRISM_CACHE_BYTES=5",
                               "PRISM_UNKNOWN=1", "PRISM_LISTEN=a:1=b",
                               nullptr};
  EXPECT_THAT(SettingsInEnvironment(environment),
              ElementsAre(Pair("cache_bytes", "5"), Pair("listen", "a:1=b")));
}

struct WrongCase {
  const char* name;
  const char* text;
  const char* accepted;
};

class WrongSettingTest : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongSettingTest, IsNamedWithValueAndWhatIsAccepted) {
  const auto& [name, text, accepted] = GetParam();
  EXPECT_THAT(Complaint({.flags = {{name, text}}}),
              AllOf(HasSubstr(std::string("--") + name), HasSubstr(text),
                    HasSubstr(accepted)));
}

INSTANTIATE_TEST_SUITE_P(
    Flags, WrongSettingTest,
    testing::Values(
        WrongCase{"workers", "many", "a whole number from 0 to 1024"},
        WrongCase{"workers", "-1", "a whole number from 0 to 1024"},
        WrongCase{"workers", "1025", "a whole number from 0 to 1024"},
        WrongCase{"queue_limit", "0", "a whole number from 1 to"},
        WrongCase{"drain_seconds", "nan", "a number from 0 to 3600"},
        WrongCase{"drain_seconds", "-0.5", "a number from 0 to 3600"},
        WrongCase{"listen", "localhost", "HOST:PORT"},
        WrongCase{"http", ":80", "HOST:PORT"},
        WrongCase{"http", "a:70000", "HOST:PORT"},
        WrongCase{"log_level", "loud", "debug, info, warning, error"},
        WrongCase{"reflection", "perhaps", "true or false"}));

TEST(ConfigTest, WrongVariableIsNamedAsSuch) {
  EXPECT_THAT(Complaint({.environment = {{"workers", "x"}}}),
              HasSubstr("PRISM_WORKERS"));
}

TEST(ConfigTest, WrongFileIsNamedWithField) {
  EXPECT_THAT(Complaint({.file = {{"prismd.yaml", "queue_limit: 0"}}}),
              HasSubstr("prismd.yaml: queue_limit must be"));
}

TEST(ConfigTest, UnknownKeyOfAFileIsAnError) {
  EXPECT_THAT(Complaint({.file = {{"prismd.yaml", "worker: 3"}}}),
              HasSubstr("worker"));
}

TEST(ConfigTest, EverythingWrongIsToldAtOnce) {
  EXPECT_THAT(
      Complaint({.environment = {{"workers", "x"}}, .flags = {{"http", "y"}}}),
      AllOf(HasSubstr("PRISM_WORKERS"), HasSubstr("--http")));
}

}  // namespace
}  // namespace prism::server
