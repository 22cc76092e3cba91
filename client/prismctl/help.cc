#include "client/prismctl/help.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <utility>

#include "client/render/bars.h"
#include "client/render/wrap.h"

namespace prism::prismctl {
namespace {

// A term and what it means.
using Entry = std::pair<std::string, std::string>;

std::string List(const std::string& title, const std::vector<Entry>& entries,
                 int columns) {
  if (entries.empty()) return "";
  int width = 0;
  for (const Entry& entry : entries) {
    width = std::max(width, render::DisplayWidth(entry.first));
  }
  std::string text = absl::StrCat("\n", title, ":\n");
  for (const auto& [term, meaning] : entries) {
    text += render::Wrap("  " + render::PadRight(term, width) + "  ", meaning,
                         columns);
  }
  return text;
}

std::string Term(const Option& option) {
  if (option.placeholder.empty()) return option.name;
  return absl::StrCat(option.name, " ", option.placeholder);
}

std::string Meaning(const Option& option) {
  if (option.choices.empty()) return option.help;
  return absl::StrCat(option.help, " (", absl::StrJoin(option.choices, ", "),
                      ")");
}

std::vector<Entry> OptionEntries(const std::vector<Option>& options) {
  std::vector<Entry> entries;
  for (const Option& option : options) {
    entries.emplace_back(Term(option), Meaning(option));
  }
  return entries;
}

std::vector<Entry> CommandEntries(const std::vector<Command>& commands) {
  std::vector<Entry> entries;
  for (const Command& command : commands) {
    entries.emplace_back(command.name, command.summary);
  }
  return entries;
}

std::vector<Entry> GlobalEntries() {
  return {{"--server ADDR",
           "ask the server at host:port instead of answering here "
           "(environment: PRISM_SERVER)"},
          {"--format FORMAT", "how to write answers (text, json)"},
          {"--timeout TIME",
           "longest wait for an answer: 30s, 2m, or a number of seconds "
           "(default 300s)"},
          {"--help", "show help, also of a command"},
          {"--version", "show the version"}};
}

std::string Usage(const Command& command, const std::string& path) {
  std::string usage = absl::StrCat("Usage: prismctl ", path);
  if (!command.subcommands.empty()) return usage + " COMMAND ...\n";
  bool optional = false;
  for (const Option& option : command.options) {
    if (option.required) {
      absl::StrAppend(&usage, " ", Term(option));
    } else {
      optional = true;
    }
  }
  return usage + (optional ? " [OPTION]...\n" : "\n");
}

std::string Paragraphs(const std::string& description, int columns) {
  std::string text;
  if (description.empty()) return text;
  const std::vector<std::string> paragraphs =
      absl::StrSplit(description, "\n\n");
  for (const std::string& paragraph : paragraphs) {
    text += "\n" + render::Wrap("", paragraph, columns);
  }
  return text;
}

}  // namespace

std::string ProgramHelp(const std::vector<Command>& commands, int columns) {
  std::vector<Entry> entries = CommandEntries(commands);
  entries.emplace_back("help [COMMAND]", "Show help");
  return absl::StrCat(
      "Usage: prismctl [--server ADDR] [--format text|json] COMMAND ...\n\n",
      render::Wrap("",
                   "Predicts how long a step of a distributed training job "
                   "takes, as a distribution. Answers in this process, or "
                   "asks a PRISM server.",
                   columns),
      List("Commands", entries, columns),
      List("Options, before or after the command", GlobalEntries(), columns));
}

std::string CommandHelp(const Command& command, const std::string& path,
                        int columns) {
  return absl::StrCat(
      Usage(command, path), "\n", render::Wrap("", command.summary, columns),
      Paragraphs(command.description, columns),
      List("Commands", CommandEntries(command.subcommands), columns),
      List("Options", OptionEntries(command.options), columns),
      List("Options of every command", GlobalEntries(), columns));
}

}  // namespace prism::prismctl
