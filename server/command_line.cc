#include "server/command_line.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <sstream>
#include <utility>

namespace prism::server {
namespace {

constexpr int kUsageError = 2;

absl::StatusOr<std::string> FileText(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    return absl::InvalidArgumentError(
        absl::StrCat("--config ", name, " cannot be read"));
  }
  return std::move(text).str();
}

}  // namespace

std::variant<CommandLine, ExitCode> ParseCommandLine(int argc,
                                                     const char* const* argv) {
  CommandLine result;
  CLI::App app("prismd: predicts how long a training step takes", "prismd");
  app.footer(
      "Each setting is also a key of the configuration file and a variable\n"
      "PRISM_<NAME>. Flags win over variables, variables over the file.");
  app.set_version_flag("--version", std::string("prismd ") + PRISM_VERSION);
  app.add_option("--config", result.config_file,
                 "YAML or JSON file with settings");
  app.add_flag("--check_config", result.check_config,
               "say whether the configuration is right, and end");
  app.add_flag("--print_config", result.print_config,
               "print the configuration with all settings, and end");
  for (const SettingHelp& setting : Settings()) {
    app.add_option_function<std::string>(
           "--" + setting.name,
           [&result, name = setting.name](const std::string& text) {
             result.settings[name] = text;
           },
           setting.help)
        ->take_last();
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  return result;
}

absl::StatusOr<prism::v1::ServerConfig> LoadConfig(
    const CommandLine& command_line, const char* const* environment) {
  ConfigSources sources;
  if (!command_line.config_file.empty()) {
    auto text = FileText(command_line.config_file);
    if (!text.ok()) return text.status();
    sources.file = {command_line.config_file, *std::move(text)};
  }
  sources.environment = SettingsInEnvironment(environment);
  sources.flags = command_line.settings;
  return ReadConfig(sources);
}

}  // namespace prism::server
