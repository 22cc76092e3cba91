#include <absl/strings/str_cat.h>

#include <map>
#include <utility>

#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "core/query/overlay.h"
#include "core/query/project_completion.h"
#include "core/query/read_run.h"
#include "core/query/what_if.h"

namespace prism::query {
namespace {

using prism::v1::ProjectCompletionRequest;
using prism::v1::Run;
using prism::v1::RunWhatIf;

// The question that says what a step takes.
prism::v1::Question StepQuestion(const ProjectCompletionRequest& message) {
  prism::v1::Question question;
  if (message.has_job()) *question.mutable_job() = message.job();
  if (message.has_profile()) *question.mutable_profile() = message.profile();
  if (message.has_cluster()) *question.mutable_cluster() = message.cluster();
  if (message.has_placement()) {
    *question.mutable_placement() = message.placement();
  }
  return question;
}

// Failures per day of the nodes that run the job; nothing where the cluster
// says the same of all.
std::vector<double> FailuresPerDay(const JobSubject& subject, int64_t nodes,
                                   double usual) {
  std::map<int64_t, double> own;
  for (const hardware::NodeState& state : subject.cluster.node_states) {
    if (state.failures_per_day) own[state.node] = *state.failures_per_day;
  }
  if (own.empty()) return {};
  std::vector<double> rates(nodes, usual);
  bool differ = false;
  for (int64_t i = 0; i < nodes; ++i) {
    const auto& placed = subject.placement.nodes;
    const auto found = own.find(placed.empty() ? i : placed[i]);
    if (found == own.end()) continue;
    rates[i] = found->second;
    differ = true;
  }
  return differ ? rates : std::vector<double>();
}

RunPlace PlaceOf(const Question& step) {
  const auto* subject = std::get_if<JobSubject>(&step.subject);
  if (subject == nullptr) return {};
  const hardware::Cluster& cluster = subject->cluster;
  RunPlace place;
  place.nodes = (subject->job.parallelism.gpus() + cluster.gpus_per_node - 1) /
                cluster.gpus_per_node;
  place.reliability = cluster.reliability;
  place.failures_per_day =
      FailuresPerDay(*subject, place.nodes,
                     cluster.reliability.failures_per_node_day.value_or(
                         kUsualFailuresPerNodeDay));
  return place;
}

class Reader {
 public:
  Reader(const ProjectCompletionRequest& message, const std::string& path,
         base::Violations& violations)
      : message_(message),
        text_(path),
        root_(text_),
        violations_(violations),
        checker_(violations) {}

  std::optional<CompletionQuestion> Read() {
    auto step = ReadQuestion(StepQuestion(message_), text_, violations_);
    checker_.Require(message_.has_run(), root_.Field("run"),
                     "is missing; it says how many steps the job has");
    CompletionQuestion question;
    if (message_.has_run()) {
      question.run.plan =
          ReadPlan(message_.run(), step ? PlaceOf(*step) : RunPlace(),
                   message_.deadline_seconds(), root_.Field("run"), root_);
    }
    checker_.Require(
        message_.what_ifs_size() <= kMostWhatIfs, root_.Field("what_ifs"),
        absl::StrCat("has ", message_.what_ifs_size(),
                     " entries; must have at most ", kMostWhatIfs));
    if (!step || checker_.failures() > 0) return std::nullopt;
    question.assumptions =
        Assumptions(message_.run(), PlaceOf(*step).reliability);
    question.run.step = *std::move(step);
    const FieldPath list = root_.Field("what_ifs");
    for (int i = 0; i < message_.what_ifs_size(); ++i) {
      question.what_ifs.push_back(
          ReadCase(message_.what_ifs(i), question.run, list.Item(i)));
    }
    if (checker_.failures() > 0 || !violations_.empty()) return std::nullopt;
    return question;
  }

 private:
  completion::RunPlan ReadPlan(const Run& run, const RunPlace& place,
                               double deadline, const FieldPath& path,
                               const FieldPath& outer) {
    completion::RunPlan plan = ReadRun(run, place, path, checker_);
    plan.progress = ReadProgress(message_.progress(), plan.steps,
                                 root_.Field("progress"), checker_);
    if (deadline != 0) {
      plan.deadlines_seconds.push_back(
          checker_.Above(deadline, 0, outer.Field("deadline_seconds")));
    }
    return plan;
  }

  CompletionCase ReadCase(const RunWhatIf& what_if, const CompletionCase& run,
                          const FieldPath& path) {
    CompletionCase other = run;
    other.name = what_if.name();
    if (what_if.has_cluster()) ReadOtherCluster(what_if, path, other);
    Run changed = message_.run();
    // At most one way to say the interval is set, so another replaces it.
    const auto& checkpoints = what_if.run().checkpoints();
    if (checkpoints.interval_seconds() != 0 ||
        checkpoints.interval_steps() != 0 || checkpoints.none()) {
      changed.mutable_checkpoints()->clear_interval_seconds();
      changed.mutable_checkpoints()->clear_interval_steps();
      changed.mutable_checkpoints()->clear_none();
    }
    Overlay(what_if.run(), changed);
    const double deadline = what_if.deadline_seconds() != 0
                                ? what_if.deadline_seconds()
                                : message_.deadline_seconds();
    other.plan = ReadPlan(changed, PlaceOf(other.step), deadline,
                          path.Field("run"), path);
    return other;
  }

  void ReadOtherCluster(const RunWhatIf& what_if, const FieldPath& path,
                        CompletionCase& other) {
    const FieldPath cluster = path.Field("cluster");
    if (!checker_.Require(message_.has_job(), cluster,
                          "is not allowed; a step profile holds all times "
                          "itself")) {
      return;
    }
    prism::v1::Question question = StepQuestion(message_);
    // Read without its placement: what failed may be replaced.
    question.clear_placement();
    const int before = checker_.failures();
    const Replacements replacements = ReadWhatIf(
        what_if.cluster(), cluster, checker_, *question.mutable_cluster());
    if (checker_.failures() > before) return;
    auto step = ReadQuestion(question, cluster.ToString(), violations_);
    if (!step) return;
    auto& subject = std::get<JobSubject>(step->subject);
    // Who named no nodes has others where some have failed.
    if (message_.has_placement() || !replacements.empty()) {
      const auto& asked = std::get<JobSubject>(other.step.subject);
      subject.placement =
          Replaced(asked.placement, PlaceOf(other.step).nodes, replacements,
                   subject.cluster, cluster, checker_);
    }
    other.step = *std::move(step);
    other.own_step = true;
  }

  const ProjectCompletionRequest& message_;
  const std::string text_;
  const FieldPath root_;
  base::Violations& violations_;
  Checker checker_;
};

}  // namespace

std::optional<CompletionQuestion> ReadCompletionQuestion(
    const ProjectCompletionRequest& message, const std::string& path,
    base::Violations& violations) {
  return Reader(message, path, violations).Read();
}

}  // namespace prism::query
