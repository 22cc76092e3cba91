#include "server/config.h"

#include <absl/status/status.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <google/protobuf/descriptor.h>

#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "core/base/violations.h"
#include "core/query/document.h"

namespace prism::server {
namespace {

using google::protobuf::FieldDescriptor;
using prism::v1::ServerConfig;
using prism::v1::Setting;

const Setting& SettingOf(const FieldDescriptor& field) {
  return field.options().GetExtension(prism::v1::setting);
}

std::string EnvironmentName(const std::string& name) {
  std::string upper = "PRISM_";
  for (char c : name) upper += static_cast<char>(std::toupper(c));
  return upper;
}

std::string Range(const Setting& setting) {
  return absl::StrCat(setting.minimum(), " to ", setting.maximum());
}

bool IsAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  uint32_t port = 0;
  return colon != std::string::npos && colon > 0 &&
         absl::SimpleAtoi(text.substr(colon + 1), &port) && port <= 65535;
}

// What `field` takes, for messages.
std::string Accepted(const FieldDescriptor& field) {
  const Setting& setting = SettingOf(field);
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return absl::StrCat("a number from ", Range(setting));
    case FieldDescriptor::CPPTYPE_STRING:
      if (setting.address()) return "HOST:PORT with a port up to 65535";
      return absl::StrJoin(setting.choices(), ", ");
    default:
      return absl::StrCat("a whole number from ", Range(setting));
  }
}

bool IsChoice(const Setting& setting, const std::string& text) {
  if (setting.choices_size() == 0) return true;
  for (const std::string& choice : setting.choices()) {
    if (choice == text) return true;
  }
  return false;
}

bool InRange(const FieldDescriptor& field, const ServerConfig& config) {
  const auto& reflection = *config.GetReflection();
  const Setting& setting = SettingOf(field);
  double value = 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      value = reflection.GetUInt32(config, &field);
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      value = static_cast<double>(reflection.GetUInt64(config, &field));
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      value = reflection.GetDouble(config, &field);
      break;
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = reflection.GetString(config, &field);
      return setting.address() ? IsAddress(text) : IsChoice(setting, text);
    }
    default:
      return true;
  }
  return value >= setting.minimum() && value <= setting.maximum();
}

// False if `text` is not a value of the field's type.
bool SetFromText(const FieldDescriptor& field, const std::string& text,
                 ServerConfig& config) {
  const auto& reflection = *config.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL: {
      bool value = false;
      if (!absl::SimpleAtob(text, &value)) return false;
      reflection.SetBool(&config, &field, value);
      return true;
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      double value = 0;
      if (!absl::SimpleAtod(text, &value) || !std::isfinite(value)) {
        return false;
      }
      reflection.SetDouble(&config, &field, value);
      return true;
    }
    case FieldDescriptor::CPPTYPE_UINT32: {
      uint32_t value = 0;
      if (!absl::SimpleAtoi(text, &value)) return false;
      reflection.SetUInt32(&config, &field, value);
      return true;
    }
    case FieldDescriptor::CPPTYPE_UINT64: {
      uint64_t value = 0;
      if (!absl::SimpleAtoi(text, &value)) return false;
      reflection.SetUInt64(&config, &field, value);
      return true;
    }
    default:
      PRISM_CHECK(field.cpp_type() == FieldDescriptor::CPPTYPE_STRING);
      reflection.SetString(&config, &field, text);
      return true;
  }
}

// Settings given as texts; `spell` says how a setting is called there.
template <typename Spell>
ServerConfig FromTexts(const SettingTexts& texts, Spell spell,
                       base::Violations& violations) {
  ServerConfig config;
  for (const auto& [name, text] : texts) {
    const FieldDescriptor* field =
        ServerConfig::descriptor()->FindFieldByName(name);
    if (field == nullptr) {
      violations.Add(spell(name), "is not a setting");
    } else if (!SetFromText(*field, text, config) || !InRange(*field, config)) {
      violations.Add(spell(name), absl::StrCat("is \"", text, "\"; must be ",
                                               Accepted(*field)));
      config.GetReflection()->ClearField(&config, field);
    }
  }
  return config;
}

ServerConfig FromFile(const std::string& name, const std::string& text,
                      base::Violations& violations) {
  ServerConfig config;
  base::Violations in_file;
  query::ReadDocument(text, &config, in_file);
  for (const auto& violation : in_file.list()) {
    violations.Add(absl::StrCat(name, violation.field.empty() ? "" : ": ",
                                violation.field),
                   violation.description);
  }
  std::vector<const FieldDescriptor*> fields;
  config.GetReflection()->ListFields(config, &fields);
  for (const FieldDescriptor* field : fields) {
    if (InRange(*field, config)) continue;
    violations.Add(absl::StrCat(name, ": ", field->name()),
                   absl::StrCat("must be ", Accepted(*field)));
  }
  return config;
}

ServerConfig Initial() {
  ServerConfig config;
  const auto& descriptor = *ServerConfig::descriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor& field = *descriptor.field(i);
    PRISM_CHECK(SetFromText(field, SettingOf(field).initial(), config));
  }
  return config;
}

absl::Status AsStatus(const base::Violations& violations) {
  if (violations.empty()) return absl::OkStatus();
  std::vector<std::string> lines;
  for (const auto& violation : violations.list()) {
    lines.push_back(absl::StrCat(violation.field, " ", violation.description));
  }
  return absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

}  // namespace

std::vector<SettingHelp> Settings() {
  std::vector<SettingHelp> settings;
  const auto& descriptor = *ServerConfig::descriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const Setting& setting = SettingOf(*descriptor.field(i));
    settings.push_back(
        {descriptor.field(i)->name(),
         absl::StrCat(setting.help(), " [", setting.initial(), "]")});
  }
  return settings;
}

SettingTexts SettingsInEnvironment(const char* const* environment) {
  std::map<std::string, std::string> names;
  for (const auto& setting : Settings()) {
    names[EnvironmentName(setting.name)] = setting.name;
  }
  SettingTexts texts;
  for (; *environment != nullptr; ++environment) {
    const std::string_view variable = *environment;
    const size_t equals = variable.find('=');
    const auto found = names.find(std::string(variable.substr(0, equals)));
    if (equals == std::string_view::npos || found == names.end()) continue;
    texts[found->second] = std::string(variable.substr(equals + 1));
  }
  return texts;
}

absl::StatusOr<ServerConfig> ReadConfig(const ConfigSources& sources) {
  base::Violations violations;
  ServerConfig config = Initial();
  if (sources.file) {
    config.MergeFrom(
        FromFile(sources.file->first, sources.file->second, violations));
  }
  config.MergeFrom(FromTexts(sources.environment, EnvironmentName, violations));
  config.MergeFrom(FromTexts(
      sources.flags,
      [](const std::string& name) { return absl::StrCat("--", name); },
      violations));
  if (auto status = AsStatus(violations); !status.ok()) return status;
  return config;
}

}  // namespace prism::server
