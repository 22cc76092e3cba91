#include "client/import/import_command.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>

#include <functional>
#include <memory>
#include <utility>

#include "client/import/huggingface.h"
#include "client/import/imported.h"
#include "client/import/kineto_command.h"
#include "client/import/megatron.h"
#include "client/import/settings.h"
#include "client/import/trace_command.h"
#include "client/prismctl/input_file.h"
#include "core/base/violations.h"
#include "core/query/document.h"

namespace prism::import {
namespace {

using prismctl::Command;
using prismctl::ExitCode;
using prismctl::OutputFormat;
using prismctl::Session;

// Command line of one format.
struct ImportOptions {
  std::vector<std::string> files;
  std::vector<std::string> settings;
};

using Import = std::function<Imported(const std::vector<SourceFile>&,
                                      const Settings&, base::Violations&)>;

std::vector<SourceFile> ReadFiles(const std::vector<std::string>& paths,
                                  std::istream& in,
                                  base::Violations& violations) {
  std::vector<SourceFile> files;
  for (const std::string& path : paths) {
    auto text = prismctl::ReadInput(path, in);
    if (text.ok()) {
      files.push_back({path == "-" ? "job" : path, *std::move(text)});
    } else {
      violations.Add(prismctl::InputName(path),
                     std::string(text.status().message()));
    }
  }
  return files;
}

// "prismctl: train.sh cannot be imported" and a line for each reason.
ExitCode Fail(const std::string& source, const base::Violations& violations,
              Session& session) {
  session.err << "prismctl: " << source << " cannot be imported\n";
  for (const base::Violation& violation : violations.list()) {
    session.err << "  " << violation.field
                << (violation.field.empty() ? "" : ": ")
                << violation.description << "\n";
  }
  if (violations.dropped() > 0)
    session.err << "  and " << violations.dropped() << " more\n";
  return prismctl::kWrongInput;
}

ExitCode Run(const ImportOptions& options, const Import& import,
             Session& session) {
  base::Violations violations;
  const Settings settings = Settings::Parse(options.settings, violations);
  const std::vector<SourceFile> files =
      ReadFiles(options.files, session.in, violations);
  Imported imported;
  if (violations.empty()) imported = import(files, settings, violations);
  const std::string source = prismctl::InputName(options.files.back());
  if (!violations.empty()) return Fail(source, violations, session);
  for (const std::string& warning : imported.warnings)
    session.err << "prismctl: " << source << ": " << warning << "\n";
  session.out << JobsText(imported.jobs, session.options.format);
  return prismctl::kAnswered;
}

Command FormatCommand(const std::string& name, const std::string& summary,
                      const std::string& description, Import import) {
  auto options = std::make_shared<ImportOptions>();
  Command command;
  command.name = name;
  command.summary = summary;
  command.description = description;
  command.options = {{.name = "FILE",
                      .help = "what to read; - for standard input",
                      .target = &options->files,
                      .required = true},
                     {.name = "--set",
                      .placeholder = "NAME=VALUE",
                      .help = "a value the file does not hold; may be repeated",
                      .target = &options->settings}};
  command.run = [options, import = std::move(import)](Session& session) {
    return Run(*options, import, session);
  };
  return command;
}

Command MegatronCommand() {
  return FormatCommand(
      "megatron", "Jobs from launch scripts of Megatron-LM",
      "Reads the options that a script gives to Megatron-LM or "
      "Megatron-DeepSpeed, with the shell variables they are made of. Several "
      "files are read as one script. A script that assigns the same variables "
      "again and again gives a list of jobs.\n\n"
      "--set gives a shell variable (NNODES=16) or an option "
      "(micro-batch-size=4), and replaces what the script says.",
      ImportMegatron);
}

Command HuggingFaceCommand() {
  return FormatCommand(
      "huggingface", "A job from a model's config.json",
      "The job trains the model on one GPU. --set gives a field of the job "
      "(sequence=4096, global_batch=64, tensor=8) or replaces a key of the "
      "file.",
      [](const std::vector<SourceFile>& files, const Settings& settings,
         base::Violations& violations) {
        if (files.size() > 1) {
          violations.Add(files[1].name,
                         "is one file too many; give one config.json");
        }
        return ImportHuggingFace(files[0], settings, violations);
      });
}

// The lines of one item in a YAML list.
std::string AsListItem(const std::string& document) {
  std::string item;
  for (const absl::string_view line : absl::StrSplit(document, '\n')) {
    if (line.empty()) continue;
    absl::StrAppend(&item, item.empty() ? "- " : "  ", line, "\n");
  }
  return item;
}

}  // namespace

std::string JobsText(const std::vector<prism::v1::Job>& jobs,
                     OutputFormat format) {
  const bool json = format == OutputFormat::kJson;
  std::string text;
  for (const prism::v1::Job& job : jobs) {
    std::string document = json ? query::WriteJson(job) : query::WriteYaml(job);
    while (!document.empty() && document.back() == '\n') document.pop_back();
    if (jobs.size() == 1) return document + "\n";
    if (json) {
      absl::StrAppend(&text, text.empty() ? "[" : ",\n", document);
    } else {
      text += AsListItem(document);
    }
  }
  return json ? text + "]\n" : text;
}

Command ImportCommand() {
  Command command;
  command.name = "import";
  command.summary = "Write foreign formats as PRISM documents";
  command.subcommands = {MegatronCommand(), HuggingFaceCommand(),
                         KinetoCommand(), ChakraCommand(), TraceCommand()};
  return command;
}

}  // namespace prism::import
