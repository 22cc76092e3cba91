#include "client/prismctl/complete_command.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <cmath>
#include <memory>
#include <utility>

#include "client/prismctl/job_question.h"
#include "client/prismctl/message_json.h"
#include "client/render/completion_text.h"
#include "core/query/node.h"
#include "core/query/project_completion.h"

namespace prism::prismctl {
namespace {

namespace v1 = prism::v1;

constexpr JobQuestionKind<v1::ProjectCompletionRequest,
                          query::CompletionQuestion,
                          v1::ProjectCompletionResponse>
    kComplete = {"/prism.v1.CompletionService/ProjectCompletion", "projecting",
                 query::ReadCompletionQuestion, query::CanonicalForm,
                 query::ProjectCompletion};

// Values of the command's options.
struct CompleteOptions {
  JobOptions job;
  std::string profile;
  std::string placement;
  std::optional<int64_t> steps;
  std::optional<int64_t> steps_done;
  std::optional<int64_t> spares;
  std::string deadline;
  std::string checkpoint_interval;
  std::string checkpoint_write;
  std::string restart;
  std::string failures;
};

// Options that are times, by name.
std::vector<std::pair<const char*, const std::string*>> Times(
    const CompleteOptions& options) {
  return {{"--deadline", &options.deadline},
          {"--checkpoint-interval", &options.checkpoint_interval},
          {"--checkpoint-write", &options.checkpoint_write},
          {"--restart", &options.restart}};
}

std::string NegativeProblem(const CompleteOptions& options) {
  for (const auto& [name, value] : {std::pair{"--steps", options.steps},
                                    {"--steps-done", options.steps_done},
                                    {"--spares", options.spares}}) {
    if (value && *value < 0) {
      return absl::StrCat(name, ": is ", *value, "; must be at least 0");
    }
  }
  return "";
}

// Which options hold fields of the request.
QuestionFiles OptionsOf(const CompleteOptions& options) {
  QuestionFiles given;
  const auto add = [&](const char* field, const char* option, bool is_given) {
    if (is_given) given[field] = option;
  };
  // Where there is no document with the rest, an option is what is missing.
  add("run.steps", "--steps", options.steps || options.job.request.empty());
  add("run.spares", "--spares", options.spares.has_value());
  add("progress.steps_done", "--steps-done", options.steps_done.has_value());
  add("deadline_seconds", "--deadline", !options.deadline.empty());
  add("run.checkpoints.interval_seconds", "--checkpoint-interval",
      !options.checkpoint_interval.empty());
  add("run.checkpoints.blocking_seconds", "--checkpoint-write",
      !options.checkpoint_write.empty());
  add("run.restarts.seconds", "--restart", !options.restart.empty());
  add("run.reliability.failures_per_node_day", "--failures-per-node-day",
      !options.failures.empty());
  return given;
}

std::string SubjectProblem(const CompleteOptions& options) {
  const bool job = !options.job.job.empty();
  const bool profile = !options.profile.empty();
  if (job ? profile : !profile && options.job.request.empty()) {
    return "give either --job with --cluster, or --profile";
  }
  return profile ? "" : MissingJobProblem(options.job);
}

std::string UsageProblem(const CompleteOptions& options) {
  for (const auto& [name, text] : Times(options)) {
    if (text->empty() || ParseSeconds(*text)) continue;
    return absl::StrCat(name, ": is ", query::Quote(*text),
                        "; must be a time of at least 0: seconds, or a number "
                        "with s, m, h or d");
  }
  for (const auto& [name, text] :
       {std::pair{"--deadline", options.deadline},
        {"--checkpoint-interval", options.checkpoint_interval}}) {
    if (ParseSeconds(text) == 0) {
      return absl::StrCat(name, ": is ", query::Quote(text),
                          "; must be above 0");
    }
  }
  double rate = 0;
  if (!options.failures.empty() && !absl::SimpleAtod(options.failures, &rate)) {
    return absl::StrCat("--failures-per-node-day: is ",
                        query::Quote(options.failures), "; must be a number");
  }
  for (const std::string& problem :
       {NegativeProblem(options), SubjectProblem(options)}) {
    if (!problem.empty()) return problem;
  }
  return JobUsageProblem(options.job, {options.profile, options.placement});
}

// What options say stands above the request's document.
void SetRun(const CompleteOptions& options,
            v1::ProjectCompletionRequest& message) {
  v1::Run& run = *message.mutable_run();
  if (options.steps) run.set_steps(static_cast<uint64_t>(*options.steps));
  if (options.spares) run.set_spares(static_cast<uint64_t>(*options.spares));
  if (options.steps_done) {
    message.mutable_progress()->set_steps_done(
        static_cast<uint64_t>(*options.steps_done));
  }
  if (const auto t = ParseSeconds(options.deadline)) {
    message.set_deadline_seconds(*t);
  }
  if (const auto t = ParseSeconds(options.checkpoint_interval)) {
    auto& checkpoints = *run.mutable_checkpoints();
    checkpoints.clear_interval_steps();
    checkpoints.clear_none();
    checkpoints.set_interval_seconds(*t);
  }
  if (const auto t = ParseSeconds(options.checkpoint_write)) {
    run.mutable_checkpoints()->set_blocking_seconds(*t);
  }
  if (const auto t = ParseSeconds(options.restart)) {
    run.mutable_restarts()->mutable_seconds()->set_constant(*t);
  }
  double rate = 0;
  if (absl::SimpleAtod(options.failures, &rate)) {
    run.mutable_reliability()->set_failures_per_node_day(rate);
  }
}

ExitCode RunComplete(const CompleteOptions& options, Session& session) {
  QuestionFiles files;
  if (!options.profile.empty()) files["profile"] = options.profile;
  if (!options.placement.empty()) files["placement"] = options.placement;
  InputProblems problems{QuestionFiles()};
  auto request = ReadJobRequest<v1::ProjectCompletionRequest>(
      options.job, files, OptionsOf(options), session, problems);
  SetRun(options, request.message);
  const auto answer =
      AnswerOf(kComplete, request, options.job, session, problems);
  if (!answer) return WriteProblems(problems, session);
  if (!answer->ok()) {
    return WriteFailure(answer->status(), request.files, session);
  }
  const v1::ProjectCompletionResponse& response = **answer;
  if (session.options.format == OutputFormat::kJson) {
    session.out << MessageJson(response) << "\n";
  } else if (response.feasible()) {
    session.out << render::CompletionText(response, session.out_terminal);
  }
  return EndWith(response, session);
}

std::vector<Option> OptionsInto(CompleteOptions& options) {
  std::vector<Option> takes = JobOptionsInto(
      options.job,
      "a document with the rest of the request: run, progress, what_ifs, "
      "deadline_seconds");
  const std::vector<Option> more = {
      {.name = "--placement",
       .placeholder = "PLACEMENT",
       .help = "the nodes of the job's ranks; without it the first nodes",
       .target = &options.placement},
      {.name = "--profile",
       .placeholder = "PROFILE",
       .help = "a step profile, instead of a job",
       .target = &options.profile},
      {.name = "--steps",
       .placeholder = "N",
       .help = "steps of the whole job",
       .target = &options.steps},
      {.name = "--steps-done",
       .placeholder = "N",
       .help = "steps of them that are done",
       .target = &options.steps_done},
      {.name = "--deadline",
       .placeholder = "T",
       .help = "time from now by which it should be done: seconds, or a "
               "number with s, m, h or d",
       .target = &options.deadline},
      {.name = "--checkpoint-interval",
       .placeholder = "T",
       .help = "work between two checkpoints (default: the best)",
       .target = &options.checkpoint_interval},
      {.name = "--checkpoint-write",
       .placeholder = "T",
       .help = "how long a checkpoint holds the job up (default: 30 s)",
       .target = &options.checkpoint_write},
      {.name = "--restart",
       .placeholder = "T",
       .help = "from a failure to the first step (default: 300 s)",
       .target = &options.restart},
      {.name = "--failures-per-node-day",
       .placeholder = "R",
       .help = "failures of one node a day (default: the cluster's, or 0.0043)",
       .target = &options.failures},
      {.name = "--spares",
       .placeholder = "N",
       .help = "spare nodes that take a failed node's place",
       .target = &options.spares}};
  takes.insert(takes.end(), more.begin(), more.end());
  return takes;
}

}  // namespace

std::optional<double> ParseSeconds(const std::string& text) {
  if (text.empty()) return std::nullopt;
  double unit = 1;
  std::string number = text;
  switch (text.back()) {
    case 'd':
      unit = 86400;
      break;
    case 'h':
      unit = 3600;
      break;
    case 'm':
      unit = 60;
      break;
    case 's':
      break;
    default:
      number += 's';
  }
  number.pop_back();
  double value = 0;
  if (!absl::SimpleAtod(number, &value)) return std::nullopt;
  value *= unit;
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

Command CompleteCommand() {
  auto options = std::make_shared<CompleteOptions>();
  Command command;
  command.name = "complete";
  command.summary = "Project when a job will be done";
  command.description =
      "Takes a job and a cluster, or a step profile, and how many steps there "
      "are: says when they are done, with failures, restarts and checkpoints, "
      "and how likely that is by a deadline.\n\n"
      "Exit codes: 0 answered, 1 a document is wrong, 2 usage, 3 the server "
      "cannot be reached or refused, 4 the job cannot run, 5 internal error.";
  command.options = OptionsInto(*options);
  command.usage_problem = [options] { return UsageProblem(*options); };
  command.run = [options](Session& session) {
    return RunComplete(*options, session);
  };
  return command;
}

}  // namespace prism::prismctl
