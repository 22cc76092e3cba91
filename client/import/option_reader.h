// OptionReader: values of launch options, or violations that say what to give.
#ifndef PRISM_CLIENT_IMPORT_OPTION_READER_H_
#define PRISM_CLIENT_IMPORT_OPTION_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/import/launch_options.h"
#include "client/import/shell_variables.h"
#include "core/base/violations.h"

namespace prism::import {

// Refers to its arguments, which must outlive it. Not thread-safe.
class OptionReader {
 public:
  OptionReader(const LaunchOptions& options, const ShellVariables& variables,
               base::Violations& violations)
      : options_(options), variables_(variables), violations_(violations) {}

  bool Has(const std::string& name) const {
    return options_.Find(name) != nullptr;
  }

  // The first value of option `name`. Nothing where the option is not given,
  // and, with a violation, where its value is not known.
  std::optional<std::string> Text(const std::string& name) const;

  // As Text, for whole numbers of at least `least`.
  // Nothing is larger than 16,777,216.
  std::optional<int64_t> Count(const std::string& name,
                               int64_t least = 1) const;

  // As Count; a violation also where the option is not given. Then 1, so that
  // reading goes on and finds what else is wrong.
  int64_t Required(const std::string& name) const;

  // The count of the first option given of `names`, spellings of one through
  // the years; `otherwise` where none is.
  int64_t CountOfAny(const std::vector<std::string>& names,
                     int64_t otherwise) const;

  bool HasAny(const std::vector<std::string>& names) const;

  // As Text, every value; empty where one is not known.
  std::vector<std::string> Texts(const std::string& name) const;

  // As Text, a number from 0 to 1; `otherwise` where there is none.
  double Fraction(const std::string& name, double otherwise) const;

  // A setting as a whole number; nothing where it is not given.
  std::optional<int64_t> Setting(const std::string& name) const;

  // This reader, with violations going elsewhere.
  OptionReader WithViolations(base::Violations& violations) const {
    return OptionReader(options_, variables_, violations);
  }

  // The first of the variables `names` that has a value, as a whole number.
  // `what` names the quantity where none has.
  int64_t RequiredVariable(const std::vector<std::string>& names,
                           const std::string& what) const;

 private:
  std::optional<std::string> Known(const std::string& field,
                                   const std::string& marked) const;
  std::optional<int64_t> Number(const std::string& field,
                                const std::string& text, int64_t least) const;

  const LaunchOptions& options_;
  const ShellVariables& variables_;
  base::Violations& violations_;
};

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_OPTION_READER_H_
