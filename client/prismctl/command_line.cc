#include "client/prismctl/command_line.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "client/prismctl/help.h"
#include "client/prismctl/suggestion.h"

namespace prism::prismctl {
namespace {

constexpr char kHelpFlags[] = "-h,--help";

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

CLI::Option* Bind(CLI::App& app, const Option& option) {
  const auto value = [&](auto* target) {
    return app.add_option(option.name, *target);
  };
  const auto list = [&](std::vector<std::string>* target) {
    CLI::Option* bound = app.add_option(option.name, *target);
    // Each use of an option takes one value, and so leaves the arguments that
    // follow it alone.
    if (!option.is_positional()) bound->allow_extra_args(false);
    return bound;
  };
  const auto flag = [&](bool* target) {
    return app.add_flag(option.name, *target);
  };
  return std::visit(Overloaded{value, list, flag}, option.target);
}

void AddOption(CLI::App& app, const Option& option) {
  CLI::Option* bound = Bind(app, option);
  bound->required(option.required);
  if (!option.choices.empty()) bound->check(CLI::IsMember(option.choices));
}

bool ReadTimeout(const std::string& text, absl::Duration* timeout) {
  double seconds = 0;
  if (absl::SimpleAtod(text, &seconds)) {
    *timeout = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, timeout)) {
    return false;
  }
  return *timeout > absl::ZeroDuration() && *timeout < absl::InfiniteDuration();
}

// "--server=" as an option and an empty value: CLI11 takes the next argument
// for the value otherwise.
std::vector<std::string> WithEmptyValues(
    const std::vector<std::string>& arguments) {
  std::vector<std::string> separate;
  for (const std::string& argument : arguments) {
    const bool empty_value =
        absl::StartsWith(argument, "--") && absl::EndsWith(argument, "=");
    separate.push_back(empty_value ? argument.substr(0, argument.size() - 1)
                                   : argument);
    if (empty_value) separate.emplace_back();
  }
  return separate;
}

std::vector<std::string> Names(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

const Command* Find(const std::vector<Command>& commands,
                    const std::string& name) {
  for (const Command& command : commands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

// Parses one command line. Not copyable: the parser holds references to
// members.
class CommandLine {
 public:
  CommandLine(const Program& program, Session& session)
      : program_(program), session_(session), server_(session.options.server) {
    app_.set_help_flag(kHelpFlags);
    app_.set_version_flag("--version", program.version);
    app_.add_option("--server", server_);
    app_.add_option("--format", format_)
        ->check(CLI::IsMember({"text", "json"}));
    app_.add_option("--timeout", timeout_);
    AddCommands(app_, program.commands);
  }
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  ExitCode Run(const std::vector<std::string>& given) {
    std::vector<std::string> arguments = WithEmptyValues(given);
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes from back
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::CallForHelp&) {
      return ShowHelp();
    } catch (const CLI::CallForVersion&) {
      return ShowVersion();
    } catch (const CLI::ExtrasError&) {
      return UnknownWord(app_.remaining(true).front());
    } catch (const CLI::ParseError& error) {
      return UsageProblem(error.what());
    }
    return RunChosen();
  }

 private:
  void AddCommands(CLI::App& app, const std::vector<Command>& commands) {
    app.require_subcommand(0, 1);
    for (const Command& command : commands) {
      CLI::App* sub = app.add_subcommand(command.name, command.summary);
      sub->fallthrough();
      for (const Option& option : command.options) AddOption(*sub, option);
      if (!command.subcommands.empty()) AddCommands(*sub, command.subcommands);
    }
  }

  // The command that was chosen, as deep as one was named; its path on the way.
  const Command* Chosen(std::string* path) const {
    const Command* chosen = nullptr;
    const CLI::App* app = &app_;
    const std::vector<Command>* commands = &program_.commands;
    while (!app->get_subcommands().empty()) {
      app = app->get_subcommands().front();
      chosen = Find(*commands, app->get_name());
      commands = &chosen->subcommands;
      absl::StrAppend(path, path->empty() ? "" : " ", chosen->name);
    }
    return chosen;
  }

  ExitCode RunChosen() {
    if (!ReadTimeout(timeout_, &session_.options.timeout)) {
      return UsageProblem(
          absl::StrCat("--timeout: is \"", timeout_,
                       "\"; must be a time above 0 such as 30s, 2m or 1.5"));
    }
    session_.options.server = server_;
    session_.options.format =
        format_ == "json" ? OutputFormat::kJson : OutputFormat::kText;
    std::string path;
    const Command* chosen = Chosen(&path);
    if (chosen == nullptr || !chosen->run) {
      return UsageProblem("a command is missing");
    }
    if (chosen->usage_problem) {
      const std::string problem = chosen->usage_problem();
      if (!problem.empty()) return UsageProblem(problem);
    }
    return chosen->run(session_);
  }

  ExitCode ShowHelp() const {
    std::string path;
    const Command* chosen = Chosen(&path);
    const std::vector<std::string> unknown = app_.remaining(true);
    const bool is_group = chosen == nullptr || !chosen->run;
    if (is_group && !unknown.empty()) return UnknownWord(unknown.front());
    const int columns = session_.out_terminal.columns;
    session_.out << (chosen == nullptr ? ProgramHelp(program_.commands, columns)
                                       : CommandHelp(*chosen, path, columns));
    return kAnswered;
  }

  ExitCode ShowVersion() const {
    session_.out << "prismctl " << program_.version << "\n";
    return kAnswered;
  }

  ExitCode UsageProblem(const std::string& problem) const {
    std::string path;
    Chosen(&path);
    session_.err << "prismctl: " << problem << "\nTry 'prismctl help"
                 << (path.empty() ? "" : " ") << path << "'.\n";
    return kUsageError;
  }

  ExitCode UnknownWord(const std::string& word) const {
    std::string path;
    const Command* chosen = Chosen(&path);
    std::vector<std::string> candidates;
    std::string problem;
    if (absl::StartsWith(word, "-")) {
      problem = absl::StrCat("unknown option ", word);
      candidates = OptionNames(chosen);
    } else if (chosen != nullptr && chosen->run) {
      problem = absl::StrCat("'", word, "' was not expected");
    } else {
      problem = absl::StrCat("unknown command '", word, "'");
      candidates =
          Names(chosen == nullptr ? program_.commands : chosen->subcommands);
    }
    const std::string meant = Suggestion(word, candidates);
    if (!meant.empty())
      absl::StrAppend(&problem, "; did you mean ", meant, "?");
    return UsageProblem(problem);
  }

  static std::vector<std::string> OptionNames(const Command* command) {
    std::vector<std::string> names = {"--server", "--format", "--timeout",
                                      "--help", "--version"};
    if (command == nullptr) return names;
    for (const Option& option : command->options) {
      names.push_back(option.name);
    }
    return names;
  }

  const Program& program_;
  Session& session_;
  std::string server_;
  std::string format_ = "text";
  std::string timeout_ = "300";
  CLI::App app_;
};

}  // namespace

ExitCode RunCommandLine(const std::vector<std::string>& arguments,
                        const Program& program, Session& session) {
  CommandLine command_line(program, session);
  if (arguments.empty() || arguments.front() != "help") {
    return command_line.Run(arguments);
  }
  // "help import megatron" is "import megatron --help".
  std::vector<std::string> named(arguments.begin() + 1, arguments.end());
  named.push_back("--help");
  return command_line.Run(named);
}

}  // namespace prism::prismctl
