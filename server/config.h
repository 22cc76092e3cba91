// The server's configuration: prism.v1.ServerConfig from a file, the
// environment and flags.
//
// Works from the schema alone: a field added to ServerConfig is a setting in
// all three sources, with help, default and range.
#ifndef PRISM_SERVER_CONFIG_H_
#define PRISM_SERVER_CONFIG_H_

#include <absl/status/statusor.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prism/v1/server_config.pb.h"

namespace prism::server {

// Texts by setting: "listen" -> "0.0.0.0:7450".
using SettingTexts = std::map<std::string, std::string>;

// Later members win.
struct ConfigSources {
  // Name and text of the configuration file, if there is one.
  std::optional<std::pair<std::string, std::string>> file = {};
  SettingTexts environment = {};
  SettingTexts flags = {};
};

struct SettingHelp {
  std::string name;
  std::string help;  // with the initial value
};

// Every setting, in the order of the schema.
std::vector<SettingHelp> Settings();

// The settings among the variables of a process ("PRISM_LISTEN=...").
SettingTexts SettingsInEnvironment(const char* const* environment);

// Every field of the result is set and in range. INVALID_ARGUMENT otherwise,
// with one line for each thing that is wrong: where, what, what is accepted.
absl::StatusOr<prism::v1::ServerConfig> ReadConfig(
    const ConfigSources& sources);

}  // namespace prism::server

#endif  // PRISM_SERVER_CONFIG_H_
