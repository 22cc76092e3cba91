#include "client/import/kineto_command.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/import/host_summary.h"
#include "client/import/imported.h"
#include "client/import/profile_message.h"
#include "client/import/settings.h"
#include "client/import/trace_summary.h"
#include "client/prismctl/input_file.h"
#include "client/render/units.h"
#include "core/query/document.h"
#include "core/trace/chakra/chakra_reader.h"
#include "core/trace/kineto/rank_reader.h"
#include "core/trace/kineto/trace_notes.h"

namespace prism::import {
namespace {

using prismctl::Command;
using prismctl::ExitCode;
using prismctl::OutputFormat;
using prismctl::Session;

struct TraceOptions {
  std::vector<std::string> files;
  std::vector<std::string> settings;
  bool summary = false;
};

using Traces = std::vector<kineto::KernelTrace>;

ExitCode Fail(const std::string& what, Session& session) {
  session.err << "prismctl: " << what << "\n";
  return prismctl::kWrongInput;
}

ExitCode Fail(const base::Violations& violations, Session& session) {
  session.err << "prismctl: the traces cannot be imported\n";
  for (const base::Violation& violation : violations.list())
    session.err << "  " << violation.field << ": " << violation.description
                << "\n";
  return prismctl::kWrongInput;
}

kineto::StepOptions ReadSettings(const std::vector<std::string>& texts,
                                 base::Violations& violations) {
  const Settings settings = Settings::Parse(texts, violations);
  kineto::StepOptions options;
  options.mark = settings.Find("step");
  const auto clock = settings.Find("clock");
  if (clock == "host") {
    options.clock = kineto::StepClock::kHost;
  } else if (clock == "device") {
    options.clock = kineto::StepClock::kDevice;
  } else if (clock) {
    violations.Add("clock",
                   absl::StrCat("is ", *clock, "; must be host or device"));
  }
  settings.ReportUnused(violations);
  return options;
}

Traces ReadKineto(const std::vector<std::string>& files, Session& session,
                  base::Violations& violations) {
  Traces traces;
  for (const std::string& file : files) {
    kineto::RankReader reader(prismctl::InputName(file));
    const absl::Status status = prismctl::StreamInput(
        file, session.in,
        [&reader](std::string_view bytes) { reader.Feed(bytes); });
    if (!status.ok()) {
      violations.Add(prismctl::InputName(file), std::string(status.message()));
      continue;
    }
    traces.push_back(reader.Finish());
  }
  return traces;
}

void Write(const kineto::JoinedTrace& joined,
           const kineto::MeasuredProfile& profile,
           const kineto::ProfileCheck& check, bool summary, Session& session) {
  const bool json = session.options.format == OutputFormat::kJson;
  if (summary) {
    session.out << (json ? TraceSummaryJson(joined, check)
                         : TraceSummaryText(joined, check,
                                            session.out_terminal.columns));
    return;
  }
  const prism::v1::StepProfile message =
      ProfileMessage(profile, NameFromFile(joined.traces[0].file));
  session.out << (json ? query::WriteJson(message) : query::WriteYaml(message));
  session.err << "prismctl: measured "
              << render::Duration(check.measured_mean_seconds)
              << " a step on average; the profile predicts "
              << render::Duration(check.predicted_mean_seconds) << " ("
              << absl::StrFormat("%+.2f%%", 100 * check.relative_error())
              << ")\n";
}

ExitCode Answer(Traces traces, const kineto::StepOptions& steps, bool summary,
                Session& session) {
  const auto joined = kineto::Join(std::move(traces), steps);
  if (!joined.ok())
    return Fail(std::string(joined.status().message()), session);
  for (const std::string& note : joined->notes)
    session.err << "prismctl: " << note << "\n";
  const kineto::MeasuredProfile profile = kineto::MakeProfile(*joined);
  const auto check = kineto::CheckProfile(profile, *joined);
  if (!check.ok()) {
    session.err << "prismctl: " << check.status().message() << "\n";
    return prismctl::kInternalError;
  }
  Write(*joined, profile, *check, summary, session);
  return prismctl::kAnswered;
}

ExitCode RunKineto(const TraceOptions& options, Session& session) {
  base::Violations violations;
  const kineto::StepOptions steps = ReadSettings(options.settings, violations);
  Traces traces = ReadKineto(options.files, session, violations);
  if (!violations.empty()) return Fail(violations, session);
  return Answer(std::move(traces), steps, options.summary, session);
}

using ChakraTraces = std::vector<chakra::ChakraTrace>;

ChakraTraces ReadChakra(const std::vector<std::string>& files, Session& session,
                        base::Violations& violations) {
  ChakraTraces traces;
  for (const std::string& file : files) {
    chakra::ChakraReader reader(prismctl::InputName(file));
    const absl::Status status = prismctl::StreamInput(
        file, session.in,
        [&reader](std::string_view bytes) { reader.Feed(bytes); });
    if (!status.ok()) {
      violations.Add(prismctl::InputName(file), std::string(status.message()));
      continue;
    }
    traces.push_back(reader.Finish());
  }
  return traces;
}

// A trace of the host has no times, so that there is no profile of it.
ExitCode AnswerHost(const chakra::ChakraTrace& trace, bool summary,
                    Session& session) {
  const kineto::Damage& damage = trace.kernels.damage;
  for (const std::string& note :
       kineto::NotesOfDamage(trace.kernels.file, damage, trace.kernels.events))
    session.err << "prismctl: " << note << "\n";
  if (!summary) {
    return Fail(absl::StrCat(trace.kernels.file,
                             " is a trace of the host, which holds no times: "
                             "--summary shows what it holds, and import kineto "
                             "reads the profiler's trace of the same run"),
                session);
  }
  session.out << (session.options.format == OutputFormat::kJson
                      ? HostSummaryJson(*trace.host)
                      : HostSummaryText(*trace.host,
                                        session.out_terminal.columns));
  return prismctl::kAnswered;
}

bool IsHost(const chakra::ChakraTrace& trace) { return trace.host.has_value(); }

ExitCode RunChakra(const TraceOptions& options, Session& session) {
  base::Violations violations;
  const kineto::StepOptions steps = ReadSettings(options.settings, violations);
  ChakraTraces read = ReadChakra(options.files, session, violations);
  if (!violations.empty()) return Fail(violations, session);
  if (read.size() == 1 && IsHost(read[0]))
    return AnswerHost(read[0], options.summary, session);
  Traces traces;
  for (chakra::ChakraTrace& trace : read) {
    if (IsHost(trace)) {
      return Fail(absl::StrCat(trace.kernels.file,
                               " is a trace of the host; give it alone"),
                  session);
    }
    if (!trace.has_starts) {
      session.err << "prismctl: " << trace.kernels.file
                  << ": starts are not recorded: operators start as early as "
                     "what they wait for allows\n";
    }
    traces.push_back(std::move(trace.kernels));
  }
  return Answer(std::move(traces), steps, options.summary, session);
}

using RunTraces = ExitCode (*)(const TraceOptions&, Session&);

Command TraceCommand(const std::string& name, RunTraces run) {
  auto options = std::make_shared<TraceOptions>();
  Command command;
  command.name = name;
  command.options = {
      {.name = "FILE",
       .help = "a trace of one rank; may be repeated",
       .target = &options->files,
       .required = true},
      {.name = "--summary",
       .help = "show what the traces hold instead of the profile",
       .target = &options->summary},
      {.name = "--set",
       .placeholder = "NAME=VALUE",
       .help = "step=NAME or clock=host|device; may be repeated",
       .target = &options->settings}};
  command.run = [options, run](Session& session) {
    return run(*options, session);
  };
  return command;
}

}  // namespace

Command KinetoCommand() {
  Command command = TraceCommand("kineto", RunKineto);
  command.summary = "A step profile from traces of PyTorch's profiler";
  command.description =
      "Reads Chrome trace files as PyTorch's profiler (Kineto) writes them, "
      "plain or gzip, one for each rank. Writes a step profile, and how near "
      "its prediction is to the steps that were recorded.\n\n"
      "Steps are ProfilerStep#N; --set step=NAME names other annotations that "
      "mark them. --set clock=device measures them on the device, clock=host "
      "by the host's marks.";
  return command;
}

Command ChakraCommand() {
  Command command = TraceCommand("chakra", RunChakra);
  command.summary = "A step profile from Chakra execution traces";
  command.description =
      "Reads execution traces in MLCommons' Chakra format, plain or gzip, one "
      "for each rank, and writes a step profile. Where a trace holds durations "
      "alone, operators start as early as what they wait for allows.\n\n"
      "PyTorch's execution traces in JSON hold no times; --summary shows what "
      "they hold.";
  return command;
}

}  // namespace prism::import
