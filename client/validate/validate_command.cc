#include "client/validate/validate_command.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "client/prismctl/input_file.h"
#include "client/validate/constants_file.h"
#include "client/validate/data_folder.h"
#include "client/validate/fit_record.h"
#include "client/validate/readers.h"
#include "client/validate/report.h"
#include "core/base/parallel.h"

namespace prism::validate {
namespace {

using prismctl::Command;
using prismctl::ExitCode;
using prismctl::Session;

struct ValidateOptions {
  std::string data;
  std::string rows;
  std::string source;
  std::string constants;
};

std::string UsageProblem(const ValidateOptions& options) {
  return options.rows == "-" && options.constants == "-"
             ? "standard input can be only one of --rows and --constants"
             : "";
}

// The text of an option's file; what keeps it from being read is a violation.
std::optional<std::string> ReadOption(const std::string& path, Session& session,
                                      base::Violations& violations) {
  auto text = prismctl::ReadInput(path, session.in);
  if (text.ok()) return *std::move(text);
  violations.Add(prismctl::InputName(path),
                 std::string(text.status().message()));
  return std::nullopt;
}

Measurements ReadMeasurements(const ValidateOptions& options, Session& session,
                              base::Violations& violations) {
  if (options.data.empty() && options.rows.empty()) {
    return ReadFolder(*RepositoryFolder());
  }
  Measurements found;
  if (!options.data.empty()) {
    const auto folder = OpenFolder(options.data);
    if (folder.ok()) {
      found = ReadFolder(**folder);
    } else {
      violations.Add(options.data, std::string(folder.status().message()));
    }
  }
  if (!options.rows.empty()) {
    if (const auto text = ReadOption(options.rows, session, violations)) {
      ReadPublishedRows(prismctl::InputName(options.rows), *text, found);
    }
  }
  return found;
}

calibration::Constants ReadConstantsOption(const ValidateOptions& options,
                                           Session& session,
                                           base::Violations& violations) {
  if (options.constants.empty()) return {};
  const auto text = ReadOption(options.constants, session, violations);
  if (!text) return {};
  base::Violations wrong;
  const auto constants = ReadConstants(*text, wrong);
  for (const base::Violation& violation : wrong.list()) {
    violations.Add(
        absl::StrCat(prismctl::InputName(options.constants),
                     violation.field.empty() ? "" : ": ", violation.field),
        violation.description);
  }
  return constants;
}

// Keeps the sources whose name holds `part`, in whatever case.
void KeepSources(const std::string& part, Measurements& found,
                 base::Violations& violations) {
  std::string names;
  for (const Source& source : found.sources) {
    absl::StrAppend(&names, names.empty() ? "" : "; ", source.name);
  }
  const std::string wanted = absl::AsciiStrToLower(part);
  std::erase_if(found.sources, [&](const Source& source) {
    return !absl::StrContains(absl::AsciiStrToLower(source.name), wanted);
  });
  if (!found.sources.empty()) return;
  violations.Add(
      "--source",
      absl::StrCat("is \"", part, "\"; must be part of one of: ", names));
}

ExitCode Fail(const base::Violations& violations, Session& session) {
  session.err << "prismctl: the input is wrong\n";
  for (const base::Violation& violation : violations.list()) {
    session.err << "  " << violation.field << ": " << violation.description
                << "\n";
  }
  return prismctl::kWrongInput;
}

// A folder without a row that can be read is not what was meant.
void CheckFound(const Measurements& found, base::Violations& violations) {
  if (!found.sources.empty()) return;
  for (const std::string& path : found.missing) {
    violations.Add(path, "is missing");
  }
  for (const base::Violation& violation : found.unreadable.list()) {
    violations.Add(violation.field, violation.description);
  }
}

ExitCode Run(const ValidateOptions& options, Session& session) {
  base::Violations violations;
  Measurements found = ReadMeasurements(options, session, violations);
  const auto constants = ReadConstantsOption(options, session, violations);
  if (violations.empty()) CheckFound(found, violations);
  if (violations.empty() && !options.source.empty()) {
    KeepSources(options.source, found, violations);
  }
  if (!violations.empty()) return Fail(violations, session);

  base::ThreadExecutor executor(
      static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  const Report report =
      Validate(found, FitRecord::OfRepository(), constants, executor);
  if (session.options.format == prismctl::OutputFormat::kJson) {
    session.out << ReportJson(report);
  } else {
    session.out << ReportText(report, !options.source.empty(),
                              session.out_terminal.columns);
  }
  return prismctl::kAnswered;
}

std::vector<prismctl::Option> OptionsInto(ValidateOptions& options) {
  return {{.name = "--data",
           .placeholder = "DIR",
           .help = "measurements in a folder of the same layout as "
                   "tests/data/measured, instead of those of the repository",
           .target = &options.data},
          {.name = "--rows",
           .placeholder = "FILE",
           .help = "published runs, a table in the form of "
                   "published/published.csv; - for standard input",
           .target = &options.rows},
          {.name = "--source",
           .placeholder = "NAME",
           .help = "only the sources whose name holds this, with every row",
           .target = &options.source},
          {.name = "--constants",
           .placeholder = "FILE",
           .help = "constants of the model to replace: a JSON object, name to "
                   "number; - for standard input",
           .target = &options.constants}};
}

}  // namespace

Command ValidateCommand() {
  auto options = std::make_shared<ValidateOptions>();
  Command command;
  command.name = "validate";
  command.summary = "Hold the model against what was measured";
  command.description =
      "Predicts every published and measured run, layer and model that the "
      "repository holds, and says by source how far off it is: mean absolute "
      "error, bias, the worst row, and whether constants of the model were "
      "fitted on it. Rows that are damaged, or that the model has no answer "
      "to, are named and left out.\n\n"
      "Exit codes: 0 answered, 1 an input is wrong, 2 usage.";
  command.options = OptionsInto(*options);
  command.usage_problem = [options] { return UsageProblem(*options); };
  command.run = [options](Session& session) { return Run(*options, session); };
  return command;
}

}  // namespace prism::validate
