// Settings: what a person gives with --set NAME=VALUE.
//
// Not thread-safe: remembers which settings were asked for, so that a
// misspelt one is found.
#ifndef PRISM_CLIENT_IMPORT_SETTINGS_H_
#define PRISM_CLIENT_IMPORT_SETTINGS_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/violations.h"

namespace prism::import {

class Settings {
 public:
  // Reads "NAME=VALUE" texts; the last of one name counts. A text without a
  // name or "=" is a violation.
  static Settings Parse(const std::vector<std::string>& texts,
                        base::Violations& violations);

  // The value given for `name`, which counts as used from now on.
  std::optional<std::string> Find(const std::string& name) const;

  // All of them, without counting as used.
  const std::map<std::string, std::string>& all() const { return values_; }

  // A violation for each setting that Find was never asked for.
  void ReportUnused(base::Violations& violations) const;

 private:
  std::map<std::string, std::string> values_;
  mutable std::set<std::string> used_;
};

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_SETTINGS_H_
