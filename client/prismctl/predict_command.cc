#include "client/prismctl/predict_command.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "client/prediction_client.h"
#include "client/prismctl/answer_output.h"
#include "client/prismctl/local_answer.h"
#include "client/prismctl/progress.h"
#include "client/prismctl/question_documents.h"
#include "client/prismctl/server_call.h"
#include "client/prismctl/timeline_option.h"
#include "core/query/question.h"

namespace prism::prismctl {
namespace {

using prism::v1::Prediction;
using prism::v1::Question;

constexpr int64_t kLeastSamples = 100;
constexpr int64_t kMostSamples = 10'000'000;
constexpr int64_t kMostThreads = 1024;

// Values of the command's options.
struct PredictOptions {
  std::string job;
  std::string cluster;
  std::string placement;
  std::string profile;
  std::string method = "auto";
  bool no_variation = false;
  std::optional<int64_t> samples;
  std::optional<int64_t> threads;
  TimelineOptions timeline;
};

std::string OutOfRange(const char* option, const std::optional<int64_t>& value,
                       int64_t least, int64_t most) {
  if (!value.has_value() || (*value >= least && *value <= most)) return "";
  return absl::StrCat(option, ": is ", *value, "; must be ", least, " to ",
                      most);
}

std::string SubjectProblem(const PredictOptions& options) {
  if (options.job.empty() == options.profile.empty()) {
    return "give either --job with --cluster, or --profile";
  }
  if (!options.profile.empty() &&
      !(options.cluster.empty() && options.placement.empty())) {
    return "--profile stands alone: it holds no job to place on a cluster";
  }
  if (!options.profile.empty() && options.no_variation) {
    return "--no-variation is for jobs: a profile says itself what varies";
  }
  if (!options.job.empty() && options.cluster.empty()) {
    return "--job needs --cluster: the cluster it would run on";
  }
  return "";
}

std::string UsageProblem(const PredictOptions& options) {
  const std::vector<std::string> files = {options.job, options.cluster,
                                          options.placement, options.profile};
  if (std::count(files.begin(), files.end(), "-") > 1) {
    return "only one document can come from standard input (-)";
  }
  for (const std::string& problem :
       {SubjectProblem(options),
        OutOfRange("--samples", options.samples, kLeastSamples, kMostSamples),
        OutOfRange("--threads", options.threads, 1, kMostThreads),
        TimelineUsageProblem(options.timeline)}) {
    if (!problem.empty()) return problem;
  }
  return "";
}

// The files of the question; a stored cluster has none.
QuestionFiles Files(const PredictOptions& options, bool stored_cluster) {
  QuestionFiles files;
  for (const auto& [subject, file] : {std::pair{"job", options.job},
                                      {"cluster", options.cluster},
                                      {"placement", options.placement},
                                      {"profile", options.profile}}) {
    if (!file.empty()) files[subject] = file;
  }
  if (stored_cluster) files.erase("cluster");
  return files;
}

int Threads(const PredictOptions& options) {
  const unsigned cores = std::max(std::thread::hardware_concurrency(), 1u);
  return static_cast<int>(options.threads.value_or(cores));
}

// The questions that the options ask, and what holds their fields.
struct Asked {
  Question message;
  QuestionFiles files;
  // What the messages say; nothing where only the server can tell.
  std::optional<query::Question> question;
  // Nothing where no timeline is asked for.
  std::optional<prism::v1::RecordTimelineRequest> timeline_message;
  std::optional<query::TimelineQuestion> timeline;
};

absl::StatusOr<Prediction> Answer(const Asked& asked,
                                  const PredictOptions& options,
                                  absl::Duration timeout,
                                  const Session& session) {
  const Progress progress(session.err, session.err_is_terminal, "predicting");
  const std::string& server = session.options.server;
  if (server.empty()) {
    return AnswerHere(*asked.question, Threads(options), timeout);
  }
  return client::PredictionClient::Connect(server)->Predict(asked.message,
                                                            timeout);
}

absl::StatusOr<prism::v1::RecordTimelineResponse> AnswerTimeline(
    const Asked& asked, const PredictOptions& options, absl::Duration timeout,
    const Session& session) {
  if (timeout <= absl::ZeroDuration()) {
    return absl::DeadlineExceededError(
        "no time is left for the timeline; allow more by --timeout");
  }
  const Progress progress(session.err, session.err_is_terminal, "recording");
  return AskForTimeline(*asked.timeline_message, asked.timeline,
                        Threads(options), timeout, session);
}

void ReadAsked(const PredictOptions& options, Session& session, Asked& asked,
               InputProblems& problems) {
  Question& message = asked.message;
  message.set_method(options.method == "montecarlo"
                         ? prism::v1::METHOD_MONTECARLO
                         : prism::v1::METHOD_AUTO);
  if (options.no_variation) message.set_variation(prism::v1::VARIATION_OFF);
  message.set_samples(static_cast<uint64_t>(options.samples.value_or(0)));
  const bool stored_cluster = NamesStoredCluster(options.cluster, session);
  if (stored_cluster) message.set_cluster_name(options.cluster);
  const QuestionFiles documents = Files(options, stored_cluster);
  asked.files = documents;
  if (!options.timeline.ranks.empty()) {
    asked.files["ranks"] = "--timeline-ranks";
  }
  problems = InputProblems(asked.files);
  ReadDocuments(documents, session.in, &message, problems);
  if (options.timeline.asked()) {
    asked.timeline_message = TimelineRequest(options.timeline, message);
  }
  if (stored_cluster) return;
  base::Violations violations;
  asked.question = query::ReadQuestion(message, "", violations);
  if (asked.question && asked.timeline_message) {
    asked.timeline =
        query::ReadTimelineQuestion(*asked.timeline_message, "", violations);
  }
  problems.AddOfQuestion(violations);
}

// Says why the timeline is not there.
ExitCode WriteTimelineProblem(const std::string& problem, Session& session) {
  session.err << "prismctl: " << problem << "\n";
  return kWrongInput;
}

ExitCode RunPredict(const PredictOptions& options, Session& session) {
  const TimeoutBudget time(session.options.timeout);
  if (const std::string problem = TimelineProblem(options.timeline, session);
      !problem.empty()) {
    return WriteTimelineProblem(problem, session);
  }
  Asked asked;
  InputProblems problems{QuestionFiles()};
  ReadAsked(options, session, asked, problems);
  if (!problems.empty()) return WriteProblems(problems, session);

  const auto prediction =
      Answer(asked, options, session.options.timeout, session);
  if (!prediction.ok()) {
    return WriteFailure(prediction.status(), asked.files, session);
  }
  if (!options.timeline.asked()) return WritePrediction(*prediction, session);

  const auto timeline =
      AnswerTimeline(asked, options, time.Remaining(), session);
  if (!timeline.ok()) {
    return WriteFailure(timeline.status(), asked.files, session);
  }
  if (const auto written = WriteTimelineFile(options.timeline, *timeline);
      !written.ok()) {
    return WriteTimelineProblem(
        absl::StrCat("--timeline: ", options.timeline.file, ": ",
                     std::string(written.message())),
        session);
  }
  const ExitCode code = WritePrediction(*prediction, session);
  if (code == kAnswered && session.options.format == OutputFormat::kText) {
    session.out << TimelineText(options.timeline, *timeline,
                                session.out_terminal);
  }
  return code;
}

std::vector<Option> OptionsInto(PredictOptions& options) {
  std::vector<Option> takes = {
      {.name = "--job",
       .placeholder = "JOB",
       .help = "the job, a YAML or JSON document",
       .target = &options.job},
      {.name = "--cluster",
       .placeholder = "CLUSTER",
       .help = "the cluster it would run on; with a server also the name of "
               "one that it stores, where no file is called so",
       .target = &options.cluster},
      {.name = "--placement",
       .placeholder = "PLACEMENT",
       .help = "the nodes of its ranks; without it the first nodes",
       .target = &options.placement},
      {.name = "--profile",
       .placeholder = "PROFILE",
       .help = "a step profile, instead of a job",
       .target = &options.profile},
      {.name = "--method",
       .placeholder = "METHOD",
       .help = "how to compute the answer",
       .target = &options.method,
       .choices = {"auto", "montecarlo"}},
      {.name = "--samples",
       .placeholder = "N",
       .help = "steps to simulate, 100 to 10000000; without it until the "
               "standard error of p50 is at most 0.1% and of p95 0.3%, or 10 s "
               "have gone",
       .target = &options.samples},
      {.name = "--no-variation",
       .help = "every duration is its mean: nothing is assumed where nobody "
               "measured",
       .target = &options.no_variation},
      {.name = "--threads",
       .placeholder = "N",
       .help = "threads when answering in this process; changes no number "
               "(default: one a core)",
       .target = &options.threads}};
  for (Option& option : TimelineOptionsInto(options.timeline)) {
    takes.push_back(std::move(option));
  }
  return takes;
}

}  // namespace

Command PredictCommand() {
  auto options = std::make_shared<PredictOptions>();
  Command command;
  command.name = "predict";
  command.summary = "Predict how long a training step takes";
  command.description =
      "Takes a job and a cluster, or a step profile. A file named - is "
      "standard input.\n\n"
      "Exit codes: 0 answered, 1 a document is wrong, 2 usage, 3 the server "
      "cannot be reached or refused, 4 the job cannot run, 5 internal error.";
  command.options = OptionsInto(*options);
  command.usage_problem = [options] { return UsageProblem(*options); };
  command.run = [options](Session& session) {
    return RunPredict(*options, session);
  };
  return command;
}

}  // namespace prism::prismctl
