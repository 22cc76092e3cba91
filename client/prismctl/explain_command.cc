#include "client/prismctl/explain_command.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <memory>
#include <utility>

#include "client/prismctl/explain_trace.h"
#include "client/prismctl/job_question.h"
#include "client/prismctl/message_json.h"
#include "client/prismctl/output_file.h"
#include "client/prismctl/trace_files.h"
#include "client/render/explanation_text.h"
#include "client/render/provenance_text.h"
#include "client/render/tornado.h"
#include "core/query/explain_variability.h"
#include "core/query/node.h"
#include "core/query/step_change.h"
#include "core/trace/replay/replay.h"

namespace prism::prismctl {
namespace {

namespace v1 = prism::v1;

constexpr JobQuestionKind<v1::ExplainVariabilityRequest, query::ExplainQuestion,
                          v1::ExplainVariabilityResponse>
    kExplain = {"/prism.v1.ExplainService/ExplainVariability", "explaining",
                query::ReadExplainQuestion, query::CanonicalForm,
                query::ExplainVariability};

// Values of the command's options.
struct ExplainOptions {
  JobOptions job;
  std::string profile;
  std::string trace;
  std::string placement;
  std::optional<int64_t> samples;
  std::vector<std::string> what_ifs;
  std::string svg;
};

std::string TraceProblem(const ExplainOptions& options) {
  if (!options.job.job.empty() || !options.job.cluster.empty() ||
      !options.job.request.empty() || !options.profile.empty() ||
      !options.placement.empty()) {
    return "give either --trace, --profile, or --job with --cluster";
  }
  if (options.samples) return "--samples: a trace has the steps it has";
  if (!options.what_ifs.empty()) {
    return "--what-if: ask prismctl replay for changes to a trace";
  }
  return "";
}

std::string SubjectProblem(const ExplainOptions& options) {
  const bool job = !options.job.job.empty();
  const bool profile = !options.profile.empty();
  if (job ? profile : !profile && options.job.request.empty()) {
    return "give either --job with --cluster, --profile or --trace";
  }
  return profile ? "" : MissingJobProblem(options.job);
}

std::string UsageProblem(const ExplainOptions& options) {
  if (!options.trace.empty()) {
    const std::string problem = TraceProblem(options);
    if (!problem.empty()) return problem;
  }
  for (const std::string& text : options.what_ifs) {
    const auto change = query::ParseChange(text);
    if (change.ok()) continue;
    return absl::StrCat("--what-if: ", std::string(change.status().message()));
  }
  if (options.samples && *options.samples < 0) {
    return absl::StrCat("--samples: is ", *options.samples,
                        "; must be at least 100");
  }
  if (!options.svg.empty() && !absl::EndsWith(options.svg, ".svg")) {
    return absl::StrCat("--svg: is ", query::Quote(options.svg),
                        "; must end in .svg");
  }
  if (!options.trace.empty()) return "";
  const std::string problem = SubjectProblem(options);
  if (!problem.empty()) return problem;
  return JobUsageProblem(options.job, {options.profile, options.placement});
}

// Which options hold fields of the request.
QuestionFiles OptionsOf(const ExplainOptions& options) {
  QuestionFiles given;
  if (options.samples) given["samples"] = "--samples";
  if (!options.what_ifs.empty()) given["what_ifs"] = "--what-if";
  return given;
}

// What options say stands above the request's document.
void SetOptions(const ExplainOptions& options,
                v1::ExplainVariabilityRequest& message) {
  if (options.samples) {
    message.set_samples(static_cast<uint64_t>(*options.samples));
  }
  if (options.what_ifs.empty()) return;
  message.clear_what_ifs();
  for (const std::string& text : options.what_ifs) {
    if (auto change = query::ParseChange(text); change.ok()) {
      *message.add_what_ifs() = *std::move(change);
    }
  }
}

ExitCode Write(const v1::ExplainVariabilityResponse& response,
               const ExplainOptions& options, Session& session) {
  if (!options.svg.empty()) {
    const absl::Status status = WriteOutputFile(
        options.svg, render::TornadoSvg(response.explanation()));
    if (!status.ok()) {
      session.err << "prismctl: --svg: " << options.svg << ": "
                  << status.message() << "\n";
      return kWrongInput;
    }
  }
  if (session.options.format == OutputFormat::kJson) {
    session.out << MessageJson(response) << "\n";
  } else if (response.feasible()) {
    session.out << render::ExplanationText(response.explanation(),
                                           session.out_terminal);
    if (response.has_provenance()) {
      session.out << render::ProvenanceText(response.provenance(),
                                            session.out_terminal);
    }
  }
  return EndWith(response, session);
}

// Recorded steps, always here.
ExitCode ExplainTrace(const ExplainOptions& options, Session& session) {
  trace::DamageLog damage;
  absl::StatusOr<OpenTraceFile> file = OpenTrace(options.trace, damage);
  absl::StatusOr<trace::ReplayReport> report =
      file.ok() ? trace::Replay(*file->trace, {}, damage) : file.status();
  WriteDamage(damage, session);
  if (!report.ok()) {
    session.err << "prismctl: " << options.trace << ": "
                << std::string(report.status().message()) << "\n";
    return kWrongInput;
  }
  v1::ExplainVariabilityResponse response;
  *response.mutable_explanation() = ExplanationOf(*report);
  response.set_feasible(true);
  return Write(response, options, session);
}

ExitCode RunExplain(const ExplainOptions& options, Session& session) {
  if (!options.svg.empty()) {
    if (const absl::Status status = CheckOutputFile(options.svg);
        !status.ok()) {
      session.err << "prismctl: --svg: " << options.svg << ": "
                  << status.message() << "\n";
      return kWrongInput;
    }
  }
  if (!options.trace.empty()) return ExplainTrace(options, session);
  QuestionFiles files;
  if (!options.profile.empty()) files["profile"] = options.profile;
  if (!options.placement.empty()) files["placement"] = options.placement;
  InputProblems problems{QuestionFiles()};
  auto request = ReadJobRequest<v1::ExplainVariabilityRequest>(
      options.job, files, OptionsOf(options), session, problems);
  SetOptions(options, request.message);
  const auto answer =
      AnswerOf(kExplain, request, options.job, session, problems);
  if (!answer) return WriteProblems(problems, session);
  if (!answer->ok()) {
    return WriteFailure(answer->status(), request.files, session);
  }
  return Write(**answer, options, session);
}

std::vector<Option> OptionsInto(ExplainOptions& options) {
  std::vector<Option> takes =
      JobOptionsInto(options.job,
                     "a document with the rest of the request: samples, "
                     "what_ifs, variation");
  const std::vector<Option> more = {
      {.name = "--placement",
       .placeholder = "PLACEMENT",
       .help = "the nodes of the job's ranks; without it the first nodes",
       .target = &options.placement},
      {.name = "--profile",
       .placeholder = "PROFILE",
       .help = "a step profile, instead of a job",
       .target = &options.profile},
      {.name = "--trace",
       .placeholder = "TRACE",
       .help = "a recorded operator trace, as of replay, instead of a job; "
               "always explained in this process",
       .target = &options.trace},
      {.name = "--what-if",
       .placeholder = "CHANGE",
       .help = "also say what the step would be under a change: "
               "scale:SOURCE=FACTOR, freeze:SOURCE, replace-rank:RANK, "
               "rebalance-stages or sort-sequences; repeatable, each alone",
       .target = &options.what_ifs},
      {.name = "--samples",
       .placeholder = "N",
       .help = "steps to simulate for each source, draw by draw (default: as "
               "many as are affordable, by structure where that is quicker)",
       .target = &options.samples},
      {.name = "--svg",
       .placeholder = "FILE",
       .help = "also draw the step without each source, as a tornado, in a "
               "FILE ending in .svg",
       .target = &options.svg}};
  takes.insert(takes.end(), more.begin(), more.end());
  return takes;
}

}  // namespace

Command ExplainCommand() {
  auto options = std::make_shared<ExplainOptions>();
  Command command;
  command.name = "explain";
  command.summary = "Say what makes a step long and what makes it vary";
  command.description =
      "Takes a job and a cluster, a step profile, or a recorded trace: says "
      "for every kind of "
      "computation, collective, shared draw, stage and slow rank what part of "
      "the mean step and of its variance it makes, how often the end of the "
      "step waits for it, and what the step would be without.\n\n"
      "Exit codes: 0 answered, 1 a document is wrong, 2 usage, 3 the server "
      "cannot be reached or refused, 4 the job cannot run, 5 internal error.";
  command.options = OptionsInto(*options);
  command.usage_problem = [options] { return UsageProblem(*options); };
  command.run = [options](Session& session) {
    return RunExplain(*options, session);
  };
  return command;
}

}  // namespace prism::prismctl
