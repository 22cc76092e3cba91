#include "client/import/settings.h"

namespace prism::import {

Settings Settings::Parse(const std::vector<std::string>& texts,
                         base::Violations& violations) {
  Settings settings;
  for (const std::string& text : texts) {
    const size_t split = text.find('=');
    if (split == std::string::npos || split == 0) {
      violations.Add("--set", "is \"" + text + "\"; must be NAME=VALUE");
      continue;
    }
    settings.values_[text.substr(0, split)] = text.substr(split + 1);
  }
  return settings;
}

std::optional<std::string> Settings::Find(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  used_.insert(name);
  return found->second;
}

void Settings::ReportUnused(base::Violations& violations) const {
  for (const auto& [name, value] : values_) {
    if (used_.count(name) > 0) continue;
    violations.Add("--set " + name,
                   "is not used: nothing read from the file "
                   "goes by this name");
  }
}

}  // namespace prism::import
