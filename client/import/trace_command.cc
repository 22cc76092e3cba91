#include "client/import/trace_command.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/import/imported.h"
#include "client/import/learned_profile_message.h"
#include "client/prismctl/trace_files.h"
#include "client/render/units.h"
#include "core/query/document.h"
#include "core/trace/learn/profile.h"
#include "core/trace/learn/step_model.h"

namespace prism::import {
namespace {

using prismctl::Command;
using prismctl::ExitCode;
using prismctl::Session;

struct TraceOptions {
  std::string trace;
  std::string family = "empirical";
};

std::string Families() {
  std::vector<std::string> names;
  for (const stats::FitFamily family : stats::FitFamilies())
    names.emplace_back(stats::FitFamilyName(family));
  return absl::StrJoin(names, ", ");
}

ExitCode Fail(const std::string& path, const absl::Status& status,
              Session& session) {
  session.err << "prismctl: " << path << ": " << std::string(status.message())
              << "\n";
  return prismctl::kWrongInput;
}

// "step, in all replicas (8)": what was found, without where.
std::string Shared(const std::vector<trace::Finding>& findings) {
  std::vector<std::string> order;
  std::map<std::string, int> counts;
  for (const trace::Finding& finding : findings) {
    if (!finding.found) continue;
    const std::string what = finding.what.substr(0, finding.what.find(':'));
    if (counts[what]++ == 0) order.push_back(what);
  }
  for (std::string& what : order)
    absl::StrAppend(&what, " (", counts[what], ")");
  return order.empty() ? "nothing" : absl::StrJoin(order, "; ");
}

std::string MeanAndTail(const trace::MeanAndTail& seconds) {
  return absl::StrCat(render::Duration(seconds.mean), " on average, p95 ",
                      render::Duration(seconds.p95));
}

void WriteNotes(const trace::StepModel& model,
                const trace::LearnedProfile& learned,
                const trace::ProfileCheck& check, Session& session) {
  session.err << "prismctl: found to be shared: " << Shared(model.findings)
              << "\n";
  for (const trace::ProfileFit& fit : learned.fits) {
    session.err << "prismctl: " << fit.field << ": "
                << std::string(stats::FitFamilyName(fit.family))
                << absl::StrFormat(
                       ", Kolmogorov-Smirnov distance %.4f of %d samples\n",
                       fit.distance, fit.samples);
  }
  const auto off = [&](double trace::MeanAndTail::*value) {
    return absl::StrFormat(
        "%+.2f%%", 100 * (check.profile.*value / (check.predicted.*value) - 1));
  };
  session.err << "prismctl: recorded " << MeanAndTail(check.recorded)
              << "\nprismctl: predicted " << MeanAndTail(check.predicted)
              << "\nprismctl: as a profile " << MeanAndTail(check.profile)
              << ": " << off(&trace::MeanAndTail::mean) << " and "
              << off(&trace::MeanAndTail::p95) << "\n";
}

ExitCode Run(const TraceOptions& options, Session& session) {
  trace::DamageLog damage;
  auto file = prismctl::OpenTrace(options.trace, damage);
  if (!file.ok()) {
    WriteDamage(damage, session);
    return Fail(options.trace, file.status(), session);
  }
  auto observed = trace::ObserveTrace(*file->trace, &damage);
  WriteDamage(damage, session);
  if (!observed.ok()) return Fail(options.trace, observed.status(), session);
  const auto model = trace::LearnSteps(*std::move(observed));
  if (!model.ok()) return Fail(options.trace, model.status(), session);
  const auto learned =
      trace::MakeProfile(*model, *stats::FitFamilyNamed(options.family));
  if (!learned.ok()) return Fail(options.trace, learned.status(), session);
  const auto check = trace::CheckProfile(*model, learned->profile);
  if (!check.ok()) return Fail(options.trace, check.status(), session);
  const prism::v1::StepProfile message =
      LearnedProfileMessage(learned->profile, NameFromFile(file->path));
  session.out << (session.options.format == prismctl::OutputFormat::kJson
                      ? query::WriteJson(message)
                      : query::WriteYaml(message));
  WriteNotes(*model, *learned, *check, session);
  return prismctl::kAnswered;
}

}  // namespace

Command TraceCommand() {
  auto options = std::make_shared<TraceOptions>();
  Command command;
  command.name = "trace";
  command.summary = "A step profile from an operator trace";
  command.description =
      "Takes an operator trace as `replay` does: a CSV file, or a folder with "
      "one, beside the YAML with the sizes of the job. Writes the step profile "
      "that comes closest to its steps; a rank of it is a worker of the trace. "
      "What the steps share is found by tests and said on standard error, with "
      "the distance of each fit and how far the profile is from the steps "
      "predicted without it.";
  command.options = {{.name = "TRACE",
                      .help = "the trace or its folder",
                      .target = &options->trace,
                      .required = true},
                     {.name = "--fit",
                      .placeholder = "FAMILY",
                      .help = absl::StrCat("what distributions are: ",
                                           Families(), " (default: empirical)"),
                      .target = &options->family}};
  command.usage_problem = [options]() -> std::string {
    if (stats::FitFamilyNamed(options->family)) return "";
    return absl::StrCat("--fit: is \"", options->family, "\"; must be one of ",
                        Families());
  };
  command.run = [options](Session& session) { return Run(*options, session); };
  return command;
}

}  // namespace prism::import
