#include "client/prismctl/replay_command.h"

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/prismctl/replay_answer.h"
#include "client/prismctl/trace_files.h"
#include "core/trace/learn/step_model.h"
#include "core/trace/replay/replay.h"

namespace prism::prismctl {
namespace {

// Values of the command's options.
struct ReplayFlags {
  std::string trace;
  std::string steps;
  std::vector<std::string> what_ifs;
};

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 ? std::optional(value) : std::nullopt;
}

// "16-35", "16" or nothing, which is all; false where it is none of these.
bool ReadSteps(std::string_view text, trace::ReplayOptions& options) {
  if (text.empty()) return true;
  const size_t dash = text.find('-');
  const auto first = WholeNumber(text.substr(0, dash));
  const auto last = dash == std::string_view::npos
                        ? first
                        : WholeNumber(text.substr(dash + 1));
  if (!first || !last || *last < *first) return false;
  options.first_step = *first;
  options.last_step = *last;
  return true;
}

// What the flags ask for; `problem` says what is wrong with them.
trace::ReplayOptions Asked(const ReplayFlags& flags, std::string& problem) {
  trace::ReplayOptions options;
  if (!ReadSteps(flags.steps, options)) {
    problem = "--steps: is \"" + flags.steps +
              "\"; must be A-B, two steps in their order, or one step";
  }
  for (const std::string& text : flags.what_ifs) {
    absl::StatusOr<trace::Change> change = trace::ParseChange(text);
    if (change.ok()) {
      options.changes.push_back(*std::move(change));
    } else if (problem.empty()) {
      problem = "--what-if: " + std::string(change.status().message());
    }
  }
  return options;
}

ExitCode Fail(const std::string& path, const absl::Status& status,
              Session& session) {
  session.err << "prismctl: " << path << ": " << std::string(status.message())
              << "\n";
  return kWrongInput;
}

// Adds steps that were not recorded, unless the recorded ones are too few or
// too different from each other to learn from.
void Predict(trace::StepSource& source, const trace::ReplayOptions& options,
             ReplayAnswer& answer) {
  constexpr size_t kSamples = 4000;
  constexpr uint64_t kSeed = 1;
  auto observed = trace::ObserveTrace(source, nullptr, options.first_step,
                                      options.last_step);
  if (!observed.ok()) return;
  const auto model = trace::LearnSteps(*std::move(observed));
  if (!model.ok()) return;
  trace::PredictedSteps steps = trace::PredictSteps(*model, kSamples, kSeed);
  answer.predicted = StepTimeOf(std::move(steps.measured));
  answer.predicted_simulated = StepTimeOf(std::move(steps.simulated));
}

ExitCode RunReplay(const ReplayFlags& flags, Session& session) {
  std::string problem;
  const trace::ReplayOptions options = Asked(flags, problem);
  trace::DamageLog damage;
  absl::StatusOr<OpenTraceFile> file = OpenTrace(flags.trace, damage);
  if (!file.ok()) {
    WriteDamage(damage, session);
    return Fail(flags.trace, file.status(), session);
  }
  const auto report = trace::Replay(*file->trace, options, damage);
  WriteDamage(damage, session);
  if (!report.ok()) return Fail(flags.trace, report.status(), session);
  ReplayAnswer answer{file->path, *report, damage, options.changes, {}};
  Predict(*file->trace, options, answer);
  session.out << (session.options.format == OutputFormat::kJson
                      ? ReplayJson(answer)
                      : ReplayText(answer, session.out_terminal));
  return kAnswered;
}

}  // namespace

Command ReplayCommand() {
  auto flags = std::make_shared<ReplayFlags>();
  Command command;
  command.name = "replay";
  command.summary = "Replay a recorded job and say what makes its steps long";
  command.description =
      "Takes an operator trace: a CSV file, or a folder with one, beside the "
      "YAML with the sizes of the job. Always answers in this process.\n\n"
      "A what-if is scale:SOURCE=FACTOR, freeze:SOURCE, replace-rank:RANK, "
      "rebalance-stages, rebalance-stages:LAYERS,LAYERS,... or "
      "sort-sequences; a SOURCE is a kind of operation, forward, backward, "
      "compute, communication, stage:N, rank:N (data rank) or worker:N.\n\n"
      "Exit codes: 0 answered, 1 the trace cannot be read or holds no step "
      "that can be replayed, 2 usage.";
  command.options = {{.name = "--trace",
                      .placeholder = "TRACE",
                      .help = "the trace or its folder",
                      .target = &flags->trace,
                      .required = true},
                     {.name = "--steps",
                      .placeholder = "A-B",
                      .help = "only these steps (default: all)",
                      .target = &flags->steps},
                     {.name = "--what-if",
                      .placeholder = "CHANGE",
                      .help = "replay the steps with this change, too; several "
                              "are applied one after the other",
                      .target = &flags->what_ifs}};
  command.usage_problem = [flags] {
    std::string problem;
    Asked(*flags, problem);
    return problem;
  };
  command.run = [flags](Session& session) {
    return RunReplay(*flags, session);
  };
  return command;
}

}  // namespace prism::prismctl
