#include "core/query/answer.h"

#include <cstdint>
#include <utility>

#include "core/query/document_names.h"
#include "core/query/json_text.h"
#include "core/query/node.h"

namespace prism::query {
namespace {

using prism::v1::BreakdownEntry;
using prism::v1::Prediction;
using prism::v1::Quantiles;

// The document word of a value of an enum of the prediction.
template <typename Enum>
Node Word(const google::protobuf::EnumDescriptor* type, Enum value) {
  const auto* found = type->FindValueByNumber(value);
  return {found == nullptr ? std::string() : EnumWord(*found)};
}

Node QuantilesNode(const Quantiles& q) {
  return {Node::Map{{"p01", {q.p01()}},
                    {"p05", {q.p05()}},
                    {"p25", {q.p25()}},
                    {"p50", {q.p50()}},
                    {"p75", {q.p75()}},
                    {"p95", {q.p95()}},
                    {"p99", {q.p99()}}}};
}

Node StepTimeNode(const prism::v1::StepTime& time) {
  return {Node::Map{
      {"mean_seconds", {time.mean_seconds()}},
      {"standard_deviation_seconds", {time.standard_deviation_seconds()}},
      {"quantiles", QuantilesNode(time.quantiles())}}};
}

template <typename Message>
Node PartsNode(const Message& message) {
  Node::Map parts;
  for (const auto& part : message.parts()) {
    parts.push_back({part.name(), {part.bytes()}});
  }
  return {std::move(parts)};
}

Node StagesNode(const prism::v1::Memory& memory) {
  Node::List stages;
  for (const auto& stage : memory.stages()) {
    stages.push_back(
        {Node::Map{{"stage", {static_cast<int64_t>(stage.stage())}},
                   {"peak_bytes_per_gpu", {stage.peak_bytes_per_gpu()}},
                   {"parts", PartsNode(stage)}}});
  }
  return {std::move(stages)};
}

Node MemoryNode(const prism::v1::Memory& memory) {
  Node::Map map = {
      {"peak_bytes_per_gpu", {memory.peak_bytes_per_gpu()}},
      {"allocated_bytes_per_gpu", {memory.allocated_bytes_per_gpu()}},
      {"capacity_bytes_per_gpu", {memory.capacity_bytes_per_gpu()}},
      {"margin_bytes_per_gpu", {memory.margin_bytes_per_gpu()}},
      {"fit", Word(prism::v1::MemoryFit_descriptor(), memory.fit())}};
  if (!memory.advice().empty()) map.push_back({"advice", {memory.advice()}});
  map.push_back({"stage", {static_cast<int64_t>(memory.stage())}});
  map.push_back({"parts", PartsNode(memory)});
  map.push_back({"stages", StagesNode(memory)});
  return {std::move(map)};
}

using KindSeconds = double (BreakdownEntry::*)() const;

Node BreakdownNode(const Prediction& prediction, KindSeconds seconds) {
  Node::Map kinds;
  for (const BreakdownEntry& entry : prediction.breakdown()) {
    kinds.push_back({entry.kind(), {(entry.*seconds)()}});
  }
  return {std::move(kinds)};
}

void AddBreakdown(const Prediction& prediction, Node::Map& map) {
  const auto add = [&](const char* key, KindSeconds seconds) {
    map.push_back({key, BreakdownNode(prediction, seconds)});
  };
  add("breakdown", &BreakdownEntry::seconds);
  add("busy", &BreakdownEntry::busy_seconds);
  if (prediction.breakdown().empty() ||
      !prediction.breakdown(0).has_mean_seconds()) {
    return;
  }
  add("mean_breakdown", &BreakdownEntry::mean_seconds);
  add("mean_busy", &BreakdownEntry::mean_busy_seconds);
}

void AddVerdict(const Prediction& prediction, Node::Map& map) {
  map.push_back({"feasible", {prediction.feasible()}});
  if (!prediction.infeasible_reason().empty()) {
    map.push_back({"infeasible_reason", {prediction.infeasible_reason()}});
  }
}

void AddJobFigures(const Prediction& prediction, Node::Map& map) {
  if (!prediction.has_memory()) return;
  map.push_back({"tokens_per_second", {prediction.tokens_per_second()}});
  map.push_back(
      {"model_flops_utilization", {prediction.model_flops_utilization()}});
  map.push_back({"tflops_per_gpu", {prediction.tflops_per_gpu()}});
  map.push_back({"memory", MemoryNode(prediction.memory())});
}

void AddProvenance(const Prediction& prediction, Node::Map& map) {
  map.push_back({"signature", {prediction.signature()}});
  map.push_back(
      {"cache", Word(prism::v1::CacheStatus_descriptor(), prediction.cache())});
  map.push_back(
      {"method", Word(prism::v1::Method_descriptor(), prediction.method())});
  map.push_back(
      {"quality", Word(prism::v1::Quality_descriptor(), prediction.quality())});
  const auto& sampling = prediction.sampling();
  map.push_back({"samples", {uint64_t{sampling.samples()}}});
  map.push_back({"standard_error", QuantilesNode(sampling.standard_error())});
  map.push_back({"elapsed_seconds", {sampling.elapsed_seconds()}});
  map.push_back({"prediction_id", {prediction.prediction_id()}});
  map.push_back({"model_version", {prediction.model_version()}});
  map.push_back({"cluster_version", {prediction.cluster_version()}});
}

Node NotesNode(const Prediction& prediction) {
  Node::List notes;
  for (const std::string& note : prediction.notes()) notes.push_back({note});
  return {std::move(notes)};
}

}  // namespace

std::string PredictionJson(const Prediction& prediction) {
  Node::Map map;
  AddVerdict(prediction, map);
  map.push_back({"step_time", StepTimeNode(prediction.step_time())});
  map.push_back({"nominal_step_seconds", {prediction.nominal_step_seconds()}});
  AddJobFigures(prediction, map);
  AddBreakdown(prediction, map);
  AddProvenance(prediction, map);
  map.push_back({"notes", NotesNode(prediction)});
  return FormatJson({std::move(map)});
}

}  // namespace prism::query
