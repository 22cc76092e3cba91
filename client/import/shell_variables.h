// ShellVariables: what the variables of a script stand for.
//
// Resolves $NAME, ${NAME}, ${NAME:-default} (and :=, -, =, :+, +),
// ${NAME[@]} and $((arithmetic)). A name is resolved where it is used, not
// where its user was assigned, so files may be given in any order; a name
// assigned several times has its last value, and inside its own assignment the
// one before. Settings come before everything the script says.
//
// What cannot be resolved stays in the text as a mark, so that whoever reads
// the value can say what it needs: see TakeMarks.
//
// Not thread-safe. Bounded: texts stop at kMostText characters, all of them
// together at kMostTotal, names nest at most kDeepest deep; what lies beyond
// counts as undefined.
#ifndef PRISM_CLIENT_IMPORT_SHELL_VARIABLES_H_
#define PRISM_CLIENT_IMPORT_SHELL_VARIABLES_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/import/settings.h"
#include "client/import/shell_script.h"

namespace prism::import {

// What stands between a text and its value.
struct Marks {
  // Variables that have no value ("$1" and "$(...)" for what only a shell
  // knows).
  std::set<std::string> undefined;
  // Variables assigned several times with different values, and those values.
  std::set<std::string> ambiguous;

  bool empty() const { return undefined.empty() && ambiguous.empty(); }
};

// Removes the marks from `text` and adds them to `marks`.
std::string TakeMarks(std::string_view text, Marks& marks);

class ShellVariables {
 public:
  static constexpr size_t kMostText = 1 << 16;
  static constexpr size_t kMostTotal = 1 << 26;
  static constexpr int kDeepest = 40;

  // `statements` and `settings` must outlive this. `predefined` is what the
  // scheduler sets, known unless the script assigns it.
  ShellVariables(const std::vector<Statement>& statements,
                 const std::map<std::string, std::string>& predefined,
                 const Settings& settings);

  // `text` with quotes removed and variables replaced.
  std::string Expand(std::string_view text) const;

  // The value of `name`, with marks; nothing where it has none.
  std::optional<std::string> Find(const std::string& name) const;

  // The value `name` has after its assignment number `level`, from 0.
  std::string ValueAfter(const std::string& name, int level) const;

  int AssignmentCount(const std::string& name) const;

  const Settings& settings() const { return settings_; }

  // The different values `name` is assigned where they do not build on each
  // other, in order; empty if there is one at most or a setting decides.
  std::vector<std::string> Alternatives(const std::string& name) const;

 private:
  class Expander;

  // `depth` counts how deep names and defaults are nested.
  std::string ExpandAt(std::string_view text, int depth) const;
  std::string Lookup(const std::string& name, int depth) const;
  std::optional<std::string> Resolve(const std::string& name, int depth) const;
  std::string ValueAfterAt(const std::string& name, int level, int depth) const;
  const std::vector<std::string>& AlternativesAt(const std::string& name,
                                                 int depth) const;
  bool BuildsOnItself(const std::string& name) const;

  std::map<std::string, std::vector<const Statement*>> assignments_;
  std::map<std::string, std::string> predefined_;
  const Settings& settings_;
  // For each variable being resolved, the assignment it is in.
  mutable std::map<std::string, int> resolving_;
  mutable std::map<std::pair<std::string, int>, std::string> known_;
  mutable std::map<std::string, std::vector<std::string>> alternatives_;
  mutable size_t total_ = 0;
};

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_SHELL_VARIABLES_H_
