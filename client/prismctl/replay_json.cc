#include <algorithm>
#include <utility>

#include "client/prismctl/message_json.h"
#include "client/prismctl/replay_answer.h"
#include "core/query/json_text.h"
#include "core/query/node.h"
#include "core/query/step_time_message.h"
#include "core/stats/sample_quantiles.h"
#include "core/step/step_time.h"

namespace prism::prismctl {
namespace {

using query::Node;
using trace::Account;

Node StepTimeNode(const prism::v1::StepTime& time) {
  return {Node::Map{{"step_time", MessageTree(time)}}};
}

Node TextsNode(const std::vector<std::string>& texts) {
  Node::List list;
  for (const std::string& text : texts) list.push_back({text});
  return {std::move(list)};
}

Node DamageNode(const trace::DamageLog& log) {
  Node::List list;
  for (const trace::Damage& damage : log.entries()) {
    list.push_back({Node::Map{{"file", {damage.file}},
                              {"line", {damage.line}},
                              {"field", {damage.field}},
                              {"what", {damage.what}},
                              {"example", {damage.example}},
                              {"count", {damage.count}}}});
  }
  return {std::move(list)};
}

Node TraceNode(const ReplayAnswer& answer) {
  const trace::ReplayReport& report = answer.report;
  const trace::Sizes& sizes = report.sizes;
  const auto count = [](int value) { return Node{int64_t{value}}; };
  return {Node::Map{
      {"file", {answer.path}},
      {"sizes",
       {Node::Map{{"data", count(sizes.data)},
                  {"pipeline", count(sizes.pipeline)},
                  {"chunks", count(sizes.chunks)},
                  {"tensor", count(sizes.tensor)},
                  {"context", count(sizes.context)}}}},
      {"steps", {static_cast<int64_t>(report.steps.size())}},
      {"steps_recorded", {report.steps_recorded}},
      {"steps_accounted", {static_cast<int64_t>(report.accounted.size())}},
      {"operations", {report.operations}},
      {"damage_count", {answer.damage.total()}},
      {"damage", DamageNode(answer.damage)}}};
}

Node ByName(const std::vector<Account>& accounts, double Account::*value) {
  Node::Map map;
  for (const Account& account : accounts) {
    map.push_back({account.name, {account.*value}});
  }
  return {std::move(map)};
}

Node::Map ByPartition(const trace::ReplayReport& report,
                      double Account::*value) {
  return {{"operation", ByName(report.by_operation, value)},
          {"stage", ByName(report.by_stage, value)},
          {"rank", ByName(report.by_rank, value)},
          {"worker", ByName(report.by_worker, value)}};
}

Node RemovedNode(const trace::ReplayReport& report) {
  Node::Map removed = ByPartition(report, &Account::removed);
  removed.push_back({"last_stage", {report.last_stage.removed}});
  removed.push_back({"worst_workers", {report.worst_workers.removed}});
  return {std::move(removed)};
}

Node SequencesNode(const trace::UnevenSequences& sequences) {
  return {Node::Map{{"correlation", {sequences.correlation}},
                    {"deviation", {sequences.deviation}},
                    {"removed", {sequences.removed}}}};
}

Node StepsNode(const trace::ReplayReport& report) {
  Node::List list;
  for (const trace::StepSeconds& step : report.steps) {
    list.push_back({Node::Map{{"step", {step.number}},
                              {"measured_seconds", {step.measured}},
                              {"simulated_seconds", {step.simulated}},
                              {"ideal_seconds", {step.ideal}}}});
  }
  return {std::move(list)};
}

prism::v1::StepTime TimeOf(const trace::ReplayReport& report,
                           double trace::StepSeconds::*value) {
  std::vector<double> seconds;
  for (const trace::StepSeconds& step : report.steps) {
    seconds.push_back(step.*value);
  }
  return StepTimeOf(std::move(seconds));
}

Node WhatIfNode(const ReplayAnswer& answer) {
  std::vector<std::string> changes;
  for (const trace::Change& change : answer.changes) {
    changes.push_back(change.text);
  }
  return {Node::Map{
      {"changes", TextsNode(changes)},
      {"step_time",
       MessageTree(TimeOf(answer.report, &trace::StepSeconds::changed))},
      {"suggestions", TextsNode(answer.report.suggestions)}}};
}

}  // namespace

prism::v1::StepTime StepTimeOf(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const stats::Moments moments = stats::SampleMoments(seconds);
  step::StepTime time;
  time.mean_seconds = moments.mean;
  time.standard_deviation_seconds = moments.standard_deviation;
  for (size_t i = 0; i < step::kQuantileLevels.size(); ++i) {
    time.quantile_seconds[i] =
        stats::SortedQuantile(seconds, step::kQuantileLevels[i]);
  }
  prism::v1::StepTime message;
  query::SetStepTime(time, message);
  return message;
}

std::string ReplayJson(const ReplayAnswer& answer) {
  const trace::ReplayReport& report = answer.report;
  const auto time = [&](double trace::StepSeconds::*value) {
    return StepTimeNode(TimeOf(report, value));
  };
  Node::Map map = {{"trace", TraceNode(answer)},
                   {"measured", time(&trace::StepSeconds::measured)},
                   {"simulated", time(&trace::StepSeconds::simulated)},
                   {"ideal", time(&trace::StepSeconds::ideal)}};
  if (answer.predicted) {
    Node::Map predicted = {{"step_time", MessageTree(*answer.predicted)}};
    if (answer.predicted_simulated) {
      predicted.push_back(
          {"simulated_step_time", MessageTree(*answer.predicted_simulated)});
    }
    map.push_back({"predicted", {std::move(predicted)}});
  }
  map.push_back({"slowdown", {report.excess.slowdown()}});
  map.push_back({"slowdown_by", {ByPartition(report, &Account::slowdown)}});
  map.push_back({"removed_by", RemovedNode(report)});
  map.push_back({"worst_workers", {report.worst_workers.name}});
  map.push_back({"sequences", SequencesNode(report.sequences)});
  map.push_back({"culprits", TextsNode(report.culprits)});
  if (!answer.changes.empty()) {
    map.push_back({"what_if", WhatIfNode(answer)});
  }
  map.push_back({"steps", StepsNode(report)});
  return query::FormatJson({std::move(map)});
}

}  // namespace prism::prismctl
