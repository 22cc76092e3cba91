// LaunchOptions: the command line options that a launch script holds.
//
// Options count wherever they stand: in lists and strings that variables hold,
// and on command lines. As argparse does, the last of one name counts.
#ifndef PRISM_CLIENT_IMPORT_LAUNCH_OPTIONS_H_
#define PRISM_CLIENT_IMPORT_LAUNCH_OPTIONS_H_

#include <set>
#include <string>
#include <vector>

#include "client/import/shell_script.h"
#include "client/import/shell_variables.h"

namespace prism::import {

struct LaunchOption {
  std::string name;  // without the leading "--"
  // With the marks of shell_variables.h.
  std::vector<std::string> values;
};

class LaunchOptions {
 public:
  // All options of `statements`.
  static LaunchOptions Collect(const std::vector<Statement>& statements,
                               const ShellVariables& variables);

  // Sets option `name` to `value`, whatever the script says; "false" takes a
  // flag away.
  void Override(const std::string& name, const std::string& value);

  // The option that counts; null where there is none. Owned by this.
  const LaunchOption* Find(const std::string& name) const;

  // Names, in order of their first appearance.
  std::vector<std::string> Names() const;

  // Options given several times with different values.
  std::vector<std::string> Repeated() const;

  // Undefined variables that stand where options may stand.
  const std::set<std::string>& strays() const { return strays_; }

 private:
  void AddText(const std::string& expanded);
  void AddWord(const std::string& word);

  std::vector<LaunchOption> options_;
  std::set<std::string> strays_;
};

// Names of the options in `expanded`.
std::vector<std::string> OptionNames(const std::string& expanded);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_LAUNCH_OPTIONS_H_
