#include "client/prismctl/placement_commands.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <memory>
#include <utility>

#include "client/prismctl/input_file.h"
#include "client/prismctl/job_question.h"
#include "client/prismctl/message_json.h"
#include "client/prismctl/node_list.h"
#include "client/render/placement_text.h"
#include "core/query/document.h"
#include "core/query/json_text.h"
#include "core/query/node.h"
#include "core/query/placement_questions.h"
#include "prism/v1/cluster_service.pb.h"

namespace prism::prismctl {
namespace {

namespace v1 = prism::v1;
using query::Node;

constexpr JobQuestionKind<v1::ScorePlacementsRequest, query::ScoreQuestion,
                          v1::ScorePlacementsResponse>
    kScore = {"/prism.v1.PlacementService/ScorePlacements", "scoring",
              query::ReadScoreQuestion, query::CanonicalForm,
              query::ScorePlacements};
constexpr JobQuestionKind<v1::OptimizePlacementRequest, query::OptimizeQuestion,
                          v1::OptimizePlacementResponse>
    kPlace = {"/prism.v1.PlacementService/OptimizePlacement", "searching",
              query::ReadOptimizeQuestion, query::CanonicalForm,
              query::OptimizePlacement};
constexpr JobQuestionKind<v1::RankNodesRequest, query::RankQuestion,
                          v1::RankNodesResponse>
    kRank = {"/prism.v1.PlacementService/RankNodes", "ranking",
             query::ReadRankQuestion, query::CanonicalForm, query::RankNodes};

constexpr char kExitCodes[] =
    "Exit codes: 0 answered, 1 a document is wrong, 2 usage, 3 the server "
    "cannot be reached or refused, 4 the job cannot run, 5 internal error.";

// Values of the options of all three commands.
struct PlacementOptions {
  JobOptions job;
  std::string placements;
  std::string free;
  std::string nodes;
  std::string exclude;
  std::string within;
  std::optional<int64_t> spares;
  std::optional<int64_t> segment_nodes;
  std::string objective;
  std::string risk_quantile;
};
using OptionsPtr = std::shared_ptr<PlacementOptions>;

// --- reading ---

// Sets the objective where an option names one.
template <typename Message>
void SetGoal(const PlacementOptions& options, Message& message) {
  if (options.objective == "quantile") {
    message.set_objective(v1::OBJECTIVE_QUANTILE);
  } else if (options.objective == "mean") {
    message.set_objective(v1::OBJECTIVE_MEAN);
  }
  double risk = 0;
  if (absl::SimpleAtod(options.risk_quantile, &risk)) {
    message.set_risk_quantile(risk);
  }
}

// Which options hold fields of the request; those that are not given are left
// out.
QuestionFiles OptionsOf(const PlacementOptions& options) {
  QuestionFiles given;
  const auto add = [&](const char* field, const char* option, bool is_given) {
    if (is_given) given[field] = option;
  };
  add("free_nodes", "--free", !options.free.empty());
  add("nodes", "--nodes", !options.nodes.empty());
  add("constraints.exclude", "--exclude", !options.exclude.empty());
  add("constraints.within", "--within", !options.within.empty());
  add("constraints.spares", "--spares", options.spares.has_value());
  add("constraints.segment_nodes", "--segment-nodes",
      options.segment_nodes.has_value());
  if (!options.placements.empty()) given["placements"] = options.placements;
  return given;
}

// The cluster that knows the names of nodes: that of the request, or the one
// that the server stores. Errors: those of the server.
template <typename Message>
absl::StatusOr<v1::Cluster> ClusterOf(const JobRequest<Message>& request,
                                      const Session& session) {
  if (!request.stored_cluster) return request.message.cluster();
  v1::GetClusterRequest get;
  get.set_name(request.message.cluster_name());
  const auto stored = AskServer<v1::StoredCluster>(
      "/prism.v1.ClusterService/GetCluster", get, session);
  if (!stored.ok()) return stored.status();
  return stored->cluster();
}

// Reads the list of nodes that an option gives for `field` into `numbers`.
void SetNodes(const char* field, const std::string& value,
              const v1::Cluster& cluster, Session& session,
              InputProblems& problems,
              google::protobuf::RepeatedField<uint32_t>* numbers) {
  if (value.empty()) return;
  const auto nodes = ReadNodes(value, session.in, cluster);
  if (!nodes.ok()) {
    problems.AddToFile(field, "", std::string(nodes.status().message()));
    return;
  }
  numbers->Assign(nodes->begin(), nodes->end());
}

// A list of placements may stand alone; it is then the value of the key.
void ReadPlacements(const std::string& file, Session& session,
                    v1::ScorePlacementsRequest* message,
                    InputProblems& problems) {
  const auto text = ReadInput(file, session.in);
  if (!text.ok()) {
    problems.AddToFile("placements", "", std::string(text.status().message()));
    return;
  }
  message->clear_placements();
  base::Violations violations;
  query::ReadDocument(*text, message, violations, "placements");
  for (const base::Violation& violation : violations.list()) {
    problems.AddToFile(
        "placements",
        std::string(absl::StripPrefix(violation.field, "placements")),
        violation.description);
  }
}

// --- writing ---

// The answer of `place` as the command line's contract has it.
std::string PlaceJson(const v1::OptimizePlacementResponse& response) {
  Node tree = MessageTree(response);
  Node::Map flat;
  for (query::Entry& entry : std::get<Node::Map>(tree.value)) {
    if (entry.key == "placement") {
      for (query::Entry& inner : std::get<Node::Map>(entry.node.value)) {
        if (inner.key == "nodes") flat.push_back(std::move(inner));
      }
    } else if (entry.key == "compared_with") {
      Node::Map others;
      for (const auto& other : response.compared_with()) {
        others.push_back({other.name(), MessageTree(other)});
      }
      flat.push_back({"compared_with", {std::move(others)}});
    } else {
      flat.push_back(std::move(entry));
    }
  }
  return query::FormatJson({std::move(flat)});
}

ExitCode Write(const std::string& json, const std::string& text,
               Session& session) {
  if (session.options.format == OutputFormat::kJson) {
    session.out << json << "\n";
  } else {
    session.out << text;
  }
  return kAnswered;
}

// --- the commands ---

ExitCode RunScore(const PlacementOptions& options, Session& session) {
  InputProblems problems{QuestionFiles()};
  auto request = ReadJobRequest<v1::ScorePlacementsRequest>(
      options.job, {}, OptionsOf(options), session, problems);
  if (!options.placements.empty()) {
    ReadPlacements(options.placements, session, &request.message, problems);
  }
  SetGoal(options, request.message);
  const auto response =
      AnswerOf(kScore, request, options.job, session, problems);
  if (!response) return WriteProblems(problems, session);
  if (!response->ok()) {
    return WriteFailure(response->status(), request.files, session);
  }
  const std::string text =
      (*response)->feasible()
          ? render::ScoresText(**response, session.out_terminal)
          : "";
  Write(MessageJson(**response), text, session);
  return EndWith(**response, session);
}

ExitCode RunPlace(const PlacementOptions& options, Session& session) {
  InputProblems problems{QuestionFiles()};
  auto request = ReadJobRequest<v1::OptimizePlacementRequest>(
      options.job, {}, OptionsOf(options), session, problems);
  v1::OptimizePlacementRequest& message = request.message;
  SetGoal(options, message);
  const auto cluster = ClusterOf(request, session);
  if (!cluster.ok()) {
    return WriteFailure(cluster.status(), request.files, session);
  }
  SetNodes("free_nodes", options.free, *cluster, session, problems,
           message.mutable_free_nodes());
  auto& constraints = *message.mutable_constraints();
  SetNodes("constraints.exclude", options.exclude, *cluster, session, problems,
           constraints.mutable_exclude());
  if (!options.within.empty()) constraints.set_within(options.within);
  if (options.spares) {
    constraints.set_spares(static_cast<uint32_t>(*options.spares));
  }
  if (options.segment_nodes) {
    constraints.set_segment_nodes(
        static_cast<uint32_t>(*options.segment_nodes));
  }
  const auto response =
      AnswerOf(kPlace, request, options.job, session, problems);
  if (!response) return WriteProblems(problems, session);
  if (!response->ok()) {
    return WriteFailure(response->status(), request.files, session);
  }
  const std::string text =
      (*response)->feasible()
          ? render::OptimumText(**response, *cluster, session.out_terminal)
          : "";
  Write(PlaceJson(**response), text, session);
  return EndWith(**response, session);
}

ExitCode RunRank(const PlacementOptions& options, Session& session) {
  InputProblems problems{QuestionFiles()};
  auto request = ReadJobRequest<v1::RankNodesRequest>(
      options.job, {}, OptionsOf(options), session, problems);
  const auto cluster = ClusterOf(request, session);
  if (!cluster.ok()) {
    return WriteFailure(cluster.status(), request.files, session);
  }
  SetNodes("nodes", options.nodes, *cluster, session, problems,
           request.message.mutable_nodes());
  const auto response =
      AnswerOf(kRank, request, options.job, session, problems);
  if (!response) return WriteProblems(problems, session);
  if (!response->ok()) {
    return WriteFailure(response->status(), request.files, session);
  }
  return Write(MessageJson(**response),
               render::RanksText(**response, session.out_terminal), session);
}

std::string GoalProblem(const PlacementOptions& options) {
  double risk = 0;
  if (!options.risk_quantile.empty() &&
      (!absl::SimpleAtod(options.risk_quantile, &risk) || !(risk > 0) ||
       !(risk < 1))) {
    return absl::StrCat("--risk-quantile: is ",
                        query::Quote(options.risk_quantile),
                        "; must be a number above 0 and below 1");
  }
  for (const auto& [name, value] :
       {std::pair{"--spares", options.spares},
        {"--segment-nodes", options.segment_nodes}}) {
    if (value && (*value < 0 || *value > (1 << 20))) {
      return absl::StrCat(name, ": is ", *value, "; must be 0 to 1048576");
    }
  }
  if (std::string problem = MissingJobProblem(options.job); !problem.empty()) {
    return problem;
  }
  return JobUsageProblem(options.job, {options.placements, options.free,
                                       options.nodes, options.exclude});
}

std::vector<Option> GoalOptions(PlacementOptions& options) {
  return {{.name = "--objective",
           .placeholder = "WHAT",
           .help = "what makes a placement good: the mean step, or a quantile "
                   "of it",
           .target = &options.objective,
           .choices = {"mean", "quantile"}},
          {.name = "--risk-quantile",
           .placeholder = "P",
           .help = "the quantile, above 0 and below 1 (default: 0.95)",
           .target = &options.risk_quantile}};
}

Command MakeCommand(std::string name, std::string summary,
                    std::string description, const OptionsPtr& options,
                    std::vector<Option> takes,
                    ExitCode (*run)(const PlacementOptions&, Session&)) {
  Command command;
  command.name = std::move(name);
  command.summary = std::move(summary);
  command.description = absl::StrCat(description, "\n\n", kExitCodes);
  command.options = std::move(takes);
  command.usage_problem = [options] { return GoalProblem(*options); };
  command.run = [options, run](Session& session) {
    return run(*options, session);
  };
  return command;
}

}  // namespace

Command ScoreCommand() {
  auto options = std::make_shared<PlacementOptions>();
  std::vector<Option> takes = JobOptionsInto(
      options->job,
      "a document with the rest of the request: placements, what_ifs");
  takes.push_back({.name = "--placements",
                   .placeholder = "FILE",
                   .help = "the candidates: a document with a list "
                           "`placements`, or that list alone",
                   .target = &options->placements});
  for (Option& option : GoalOptions(*options)) takes.push_back(option);
  Command command = MakeCommand(
      "score", "Compare placements of a job",
      "Says of each placement how long a step takes on it, how good that is "
      "beside the best, and which placements cannot be told apart.",
      options, std::move(takes), RunScore);
  command.usage_problem = [options] {
    const bool missing =
        options->placements.empty() && options->job.request.empty();
    const std::string problem = GoalProblem(*options);
    return problem.empty() && missing ? "give --placements: the candidates"
                                      : problem;
  };
  return command;
}

Command PlaceCommand() {
  auto options = std::make_shared<PlacementOptions>();
  std::vector<Option> takes = JobOptionsInto(
      options->job,
      "a document with the rest of the request: free_nodes, constraints, "
      "what_ifs");
  takes.push_back({.name = "--free",
                   .placeholder = "NODES",
                   .help = "nodes the job may have: numbers, ranges (0-7) and "
                           "names, or a file with them (default: all healthy "
                           "ones)",
                   .target = &options->free});
  takes.push_back({.name = "--exclude",
                   .placeholder = "NODES",
                   .help = "nodes that are not to be used",
                   .target = &options->exclude});
  takes.push_back({.name = "--spares",
                   .placeholder = "N",
                   .help = "free nodes to keep beside the job",
                   .target = &options->spares});
  takes.push_back({.name = "--within",
                   .placeholder = "LEVEL",
                   .help = "all nodes in one unit of this fabric level",
                   .target = &options->within});
  takes.push_back({.name = "--segment-nodes",
                   .placeholder = "N",
                   .help = "nodes come in blocks of this many that lie "
                           "together",
                   .target = &options->segment_nodes});
  for (Option& option : GoalOptions(*options)) takes.push_back(option);
  return MakeCommand(
      "place", "Choose nodes for a job, and which ranks run where",
      "Finds nodes in rank order, says how long a step takes there and what "
      "is left to gain at most, and compares with other placements.",
      options, std::move(takes), RunPlace);
}

Command RankCommand() {
  auto options = std::make_shared<PlacementOptions>();
  std::vector<Option> takes = JobOptionsInto(
      options->job, "a document with the rest of the request: class_width");
  takes.push_back({.name = "--nodes",
                   .placeholder = "NODES",
                   .help = "the nodes to rank (default: all)",
                   .target = &options->nodes});
  return MakeCommand(
      "rank", "Order nodes by what they cost a job",
      "Gives each node a performance class and says how much longer a step of "
      "the job takes when the node is one of its nodes.",
      options, std::move(takes), RunRank);
}

}  // namespace prism::prismctl
