// Shell scripts, read for the settings they hold and never run.
//
// A launch script is a list of assignments, command lines and scheduler
// directives. What decides between them (if, for, functions) is not followed:
// every assignment and every command line counts, in the order of the file.
// Text of which the shell syntax is broken is read line by line instead; no
// input is an error.
#ifndef PRISM_CLIENT_IMPORT_SHELL_SCRIPT_H_
#define PRISM_CLIENT_IMPORT_SHELL_SCRIPT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prism::import {

// NAME=text, NAME=( text ) or, without a name, the words of a command line.
struct Statement {
  std::string name = {};
  // Shell text, quotes and expansions as written, comments removed.
  std::string text;
  bool is_list = false;
  bool appends = false;  // NAME+=

  bool is_assignment() const { return !name.empty(); }
};

struct Script {
  std::vector<Statement> statements;
  // "#SBATCH --nodes=24" as {"nodes", "24"}.
  std::vector<std::pair<std::string, std::string>> directives;
};

Script ParseScript(std::string_view text);

// Whether `name` may name a shell variable.
bool IsVariableName(std::string_view name);

// The position just after the quoted text or expansion ('..', "..", `..`,
// ${..}, $(..), $((..)), \c) that begins at `text[at]`; npos if it does not
// end. `at` + 1 where nothing of the kind begins. Requires: at < text.size().
size_t SkipQuoted(std::string_view text, size_t at);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_SHELL_SCRIPT_H_
