#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "core/query/placement_questions.h"
#include "core/query/question.h"
#include "core/query/read_job.h"
#include "core/query/what_if.h"

namespace prism::query {
namespace {

using placement::NodeList;

constexpr int kMostCandidates = 4096;
constexpr double kUsualRisk = 0.95;
constexpr double kUsualClassWidth = 0.01;

// What all three questions are about.
struct Setting {
  JobSubject subject;
  int64_t nodes = 1;  // that the job takes
  uint64_t random_key = 0;
};

// Job and cluster of `message`.
template <typename Message>
prism::v1::Question SettingQuestion(const Message& message) {
  prism::v1::Question question;
  *question.mutable_job() = message.job();
  if (message.has_cluster()) *question.mutable_cluster() = message.cluster();
  return question;
}

std::optional<Setting> ReadSetting(const prism::v1::Question& message,
                                   const std::string& path,
                                   base::Violations& violations) {
  auto question = ReadQuestion(message, path, violations);
  if (!question) return std::nullopt;
  Setting setting;
  setting.random_key = RandomKey(*question);
  setting.subject = std::move(std::get<JobSubject>(question->subject));
  const hardware::Cluster& cluster = setting.subject.cluster;
  setting.nodes =
      (setting.subject.job.parallelism.gpus() + cluster.gpus_per_node - 1) /
      cluster.gpus_per_node;
  return setting;
}

template <typename Message>
placement::Goal ReadGoal(const Message& message, const FieldPath& path,
                         Checker& checker) {
  using prism::v1::Objective;
  placement::Goal goal;
  goal.objective = checker.Choose<Objective, placement::Objective>(
      message.objective(),
      {{prism::v1::OBJECTIVE_UNSPECIFIED, placement::Objective::kMean},
       {prism::v1::OBJECTIVE_MEAN, placement::Objective::kMean},
       {prism::v1::OBJECTIVE_QUANTILE, placement::Objective::kQuantile}},
      path.Field("objective"));
  const double risk = message.risk_quantile();
  checker.Require(risk >= 0 && risk < 1, path.Field("risk_quantile"),
                  absl::StrCat("is ", risk, "; must be above 0 and below 1"));
  goal.risk_quantile = risk > 0 && risk < 1 ? risk : kUsualRisk;
  return goal;
}

void CheckWhatIfCount(int count, const FieldPath& path, Checker& checker) {
  checker.Require(count <= kMostWhatIfs, path.Field("what_ifs"),
                  absl::StrCat("has ", count, " entries; must have at most ",
                               kMostWhatIfs));
}

// Nodes that a list names, each in range and once.
std::vector<int64_t> ReadNodes(
    const google::protobuf::RepeatedField<uint32_t>& list,
    const hardware::Cluster& cluster, const FieldPath& path, Checker& checker) {
  std::vector<int64_t> nodes;
  std::set<int64_t> seen;
  for (int i = 0; i < list.size(); ++i) {
    const int64_t node = list[i];
    checker.Require(
        node < cluster.nodes, path.Item(i),
        absl::StrCat("is ", node, "; must be from 0 to ", cluster.nodes - 1));
    checker.Require(seen.insert(node).second, path.Item(i),
                    absl::StrCat("is ", node, " again; give each node once"));
    nodes.push_back(node);
  }
  return nodes;
}

NodeList Explicit(const estimate::Placement& placement, int64_t nodes) {
  if (!placement.nodes.empty()) return placement.nodes;
  NodeList list(nodes);
  std::iota(list.begin(), list.end(), 0);
  return list;
}

std::vector<NodeList> ReadCandidates(
    const prism::v1::ScorePlacementsRequest& message, const Setting& setting,
    const FieldPath& path, Checker& checker) {
  const FieldPath list = path.Field("placements");
  const int count = message.placements_size();
  std::vector<NodeList> candidates;
  if (!checker.Require(count >= 1 && count <= kMostCandidates, list,
                       absl::StrCat("has ", count, " entries; must have 1 to ",
                                    kMostCandidates))) {
    return candidates;
  }
  for (int i = 0; i < count; ++i) {
    candidates.push_back(
        Explicit(ReadPlacement(message.placements(i), setting.subject.cluster,
                               setting.subject.job.parallelism.gpus(),
                               list.Item(i), checker),
                 setting.nodes));
  }
  return candidates;
}

// The setting of a what-if, and what replaces which node in it.
struct Changed {
  hardware::Cluster cluster;
  Replacements replacements;
};

std::optional<Changed> ReadChanged(const prism::v1::WhatIf& what_if,
                                   prism::v1::Question question,
                                   const FieldPath& path, Checker& checker,
                                   base::Violations& violations) {
  const int before = checker.failures();
  Changed changed;
  changed.replacements =
      ReadWhatIf(what_if, path, checker, *question.mutable_cluster());
  if (checker.failures() > before) return std::nullopt;
  auto setting = ReadSetting(question, path.ToString(), violations);
  if (!setting) return std::nullopt;
  changed.cluster = std::move(setting->subject.cluster);
  return changed;
}

placement::Constraints ReadConstraints(
    const prism::v1::PlacementConstraints& message, const Setting& setting,
    const FieldPath& path, Checker& checker) {
  const hardware::Cluster& cluster = setting.subject.cluster;
  placement::Constraints constraints;
  constraints.exclude =
      ReadNodes(message.exclude(), cluster, path.Field("exclude"), checker);
  constraints.spares = message.spares();
  constraints.within = message.within();
  std::vector<std::string> levels;
  for (const auto& level : cluster.fabric) levels.push_back(level.name);
  const bool known =
      std::find(levels.begin(), levels.end(), message.within()) != levels.end();
  checker.Require(message.within().empty() || known, path.Field("within"),
                  absl::StrCat("is \"", message.within(),
                               "\"; must be a level of the cluster's fabric: ",
                               absl::StrJoin(levels, ", ")));
  constraints.segment_nodes = message.segment_nodes();
  if (message.segment_nodes() > 0) {
    checker.Require(setting.nodes % message.segment_nodes() == 0,
                    path.Field("segment_nodes"),
                    absl::StrCat("is ", message.segment_nodes(),
                                 "; must divide the job's nodes, which are ",
                                 setting.nodes));
  }
  return constraints;
}

// Forgets what the cluster says of nodes that no candidate uses, as the answer
// does not depend on it.
void KeepUsed(placement::ScoreRequest& request) {
  std::set<int64_t> used;
  for (const NodeList& nodes : request.placements) {
    used.insert(nodes.begin(), nodes.end());
  }
  std::erase_if(request.cluster.node_states,
                [&](const auto& state) { return !used.contains(state.node); });
  std::erase_if(request.cluster.path_states, [&](const auto& path) {
    return !used.contains(path.from) || !used.contains(path.to);
  });
}

}  // namespace

std::optional<ScoreQuestion> ReadScoreQuestion(
    const prism::v1::ScorePlacementsRequest& message, const std::string& path,
    base::Violations& violations) {
  Checker checker(violations);
  const FieldPath root(path);
  ScoreQuestion question;
  const auto setting = ReadSetting(SettingQuestion(message), path, violations);
  question.request.goal = ReadGoal(message, root, checker);
  CheckWhatIfCount(message.what_ifs_size(), root, checker);
  if (!setting) return std::nullopt;
  question.request.placements =
      ReadCandidates(message, *setting, root, checker);
  if (checker.failures() > 0) return std::nullopt;
  question.request.job = setting->subject.job;
  question.request.cluster = setting->subject.cluster;
  question.request.random_key = setting->random_key;
  for (int i = 0; i < message.placements_size(); ++i) {
    const std::string& name = message.placements(i).name();
    question.names.push_back(name.empty() ? absl::StrCat("#", i) : name);
  }
  const FieldPath list = root.Field("what_ifs");
  for (int i = 0; i < message.what_ifs_size(); ++i) {
    const FieldPath item = list.Item(i);
    auto changed = ReadChanged(message.what_ifs(i), SettingQuestion(message),
                               item, checker, violations);
    if (!changed) continue;
    auto& what_if = question.what_ifs.emplace_back();
    what_if.name = message.what_ifs(i).name();
    what_if.request = question.request;
    what_if.request.cluster = std::move(changed->cluster);
    for (NodeList& nodes : what_if.request.placements) {
      nodes = Replaced({nodes}, setting->nodes, changed->replacements,
                       what_if.request.cluster, item, checker)
                  .nodes;
    }
  }
  if (!violations.empty()) return std::nullopt;
  KeepUsed(question.request);
  for (auto& what_if : question.what_ifs) KeepUsed(what_if.request);
  return question;
}

std::optional<OptimizeQuestion> ReadOptimizeQuestion(
    const prism::v1::OptimizePlacementRequest& message, const std::string& path,
    base::Violations& violations) {
  Checker checker(violations);
  const FieldPath root(path);
  OptimizeQuestion question;
  const auto setting = ReadSetting(SettingQuestion(message), path, violations);
  question.request.goal = ReadGoal(message, root, checker);
  CheckWhatIfCount(message.what_ifs_size(), root, checker);
  if (!setting) return std::nullopt;
  placement::OptimizeRequest& request = question.request;
  request.job = setting->subject.job;
  request.cluster = setting->subject.cluster;
  request.random_key = setting->random_key;
  request.seed = message.seed();
  request.free_nodes = ReadNodes(message.free_nodes(), request.cluster,
                                 root.Field("free_nodes"), checker);
  request.constraints = ReadConstraints(message.constraints(), *setting,
                                        root.Field("constraints"), checker);
  const FieldPath list = root.Field("what_ifs");
  for (int i = 0; i < message.what_ifs_size(); ++i) {
    const FieldPath item = list.Item(i);
    auto changed = ReadChanged(message.what_ifs(i), SettingQuestion(message),
                               item, checker, violations);
    if (!changed) continue;
    auto& what_if = question.what_ifs.emplace_back();
    what_if.name = message.what_ifs(i).name();
    what_if.request = request;
    what_if.request.cluster = std::move(changed->cluster);
    what_if.request.free_nodes =
        ReplacedAmongFree(request.free_nodes, changed->replacements,
                          what_if.request.constraints.exclude);
  }
  if (checker.failures() > 0 || !violations.empty()) return std::nullopt;
  return question;
}

std::optional<RankQuestion> ReadRankQuestion(
    const prism::v1::RankNodesRequest& message, const std::string& path,
    base::Violations& violations) {
  Checker checker(violations);
  const FieldPath root(path);
  RankQuestion question;
  const auto setting = ReadSetting(SettingQuestion(message), path, violations);
  question.request.class_width =
      message.class_width() == 0
          ? kUsualClassWidth
          : checker.Above(message.class_width(), 0, root.Field("class_width"));
  if (!setting) return std::nullopt;
  question.request.job = setting->subject.job;
  question.request.cluster = setting->subject.cluster;
  question.request.random_key = setting->random_key;
  question.request.nodes = ReadNodes(message.nodes(), question.request.cluster,
                                     root.Field("nodes"), checker);
  if (checker.failures() > 0) return std::nullopt;
  return question;
}

}  // namespace prism::query
