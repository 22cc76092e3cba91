// Command: one prismctl command, described as data.
//
// A command says what options it takes and where their values go; the command
// line parser (command_line.cc, the only file that knows the parsing library)
// fills them in and calls `run`. To add a command, write a function that
// returns a Command and name it in commands.cc.
//
//   Command GreetCommand() {
//     auto name = std::make_shared<std::string>();
//     Command command;
//     command.name = "greet";
//     command.summary = "Greet somebody";
//     command.options = {{.name = "NAME", .help = "who", .target = name.get(),
//                         .required = true}};
//     command.run = [name](Session& session) {
//       session.out << "hello " << *name << "\n";
//       return kAnswered;
//     };
//     return command;
//   }
#ifndef PRISM_CLIENT_PRISMCTL_COMMAND_H_
#define PRISM_CLIENT_PRISMCTL_COMMAND_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "client/prismctl/session.h"

namespace prism::prismctl {

// Where an option's value goes. Not owned: `run` keeps it alive.
using OptionTarget =
    std::variant<std::string*, std::optional<std::string>*,
                 std::optional<int64_t>*, std::vector<std::string>*, bool*>;

struct Option {
  // "--job", or "FILE" for an argument that is given by position.
  std::string name;
  // What stands for the value in help: "NODES". Empty for flags and arguments.
  std::string placeholder = {};
  std::string help;
  // A list takes the option several times; a bool is a flag without value.
  OptionTarget target;
  bool required = false;
  // Empty: any value.
  std::vector<std::string> choices = {};

  bool is_positional() const { return name.front() != '-'; }
};

struct Command {
  std::string name;
  // One line, for lists of commands.
  std::string summary;
  // Paragraphs under the summary in the command's own help. May be empty.
  std::string description;
  std::vector<Option> options;
  // A command either runs or has subcommands.
  std::vector<Command> subcommands;
  // What is wrong with the options together; empty: nothing. May be unset.
  std::function<std::string()> usage_problem;
  std::function<ExitCode(Session&)> run;
};

// All there is on the command line.
struct Program {
  std::string version;  // what --version says after the program's name
  std::vector<Command> commands;
};

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_COMMAND_H_
