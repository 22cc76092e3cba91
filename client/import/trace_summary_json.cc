#include <nlohmann/json.hpp>

#include "client/import/trace_summary.h"

namespace prism::import {
namespace {

using Json = nlohmann::ordered_json;
using kineto::JoinedTrace;

constexpr double kNs = 1e-9;  // in seconds

double Seconds(int64_t ns) { return static_cast<double>(ns) * kNs; }

const char* Name(kineto::ActivityKind kind) {
  switch (kind) {
    case kineto::ActivityKind::kCompute:
      return "compute";
    case kineto::ActivityKind::kCommunication:
      return "communication";
    case kineto::ActivityKind::kMemory:
      return "copy";
  }
  return "";
}

const char* Name(kineto::StepMark mark) {
  switch (mark) {
    case kineto::StepMark::kGiven:
      return "given";
    case kineto::StepMark::kProfilerStep:
      return "profiler-step";
    case kineto::StepMark::kOptimizer:
      return "optimizer-step";
    case kineto::StepMark::kWholeFile:
      return "none";
  }
  return "";
}

Json OfTime(const kineto::PhaseTime& time) {
  return {
      {"compute_seconds", Seconds(time.compute_ns)},
      {"exposed_communication_seconds", Seconds(time.exposed_communication_ns)},
      {"exposed_copy_seconds", Seconds(time.exposed_copy_ns)},
      {"idle_seconds", Seconds(time.idle_ns)}};
}

Json OfStep(const JoinedTrace& joined, const kineto::JoinedStep& step) {
  Json ranks = Json::array();
  for (size_t t = 0; t < step.by_trace.size(); ++t) {
    const kineto::StepBreakdown& part = step.by_trace[t];
    Json rank = {{"rank", *joined.traces[t].rank},
                 {"seconds", Seconds(part.sum().total_ns())},
                 {"communication_seconds", Seconds(part.communication_ns)}};
    rank.update(OfTime(part.sum()));
    rank["forward"] = OfTime(part.phases[0]);
    rank["backward"] = OfTime(part.phases[1]);
    rank["optimizer"] = OfTime(part.phases[2]);
    ranks.push_back(std::move(rank));
  }
  return {{"name", step.name},
          {"number", step.number},
          {"seconds", Seconds(step.duration_ns)},
          {"ranks", std::move(ranks)}};
}

Json OfDamage(const kineto::Damage& damage) {
  Json places = Json::array();
  for (const kineto::DamagedPlace& place : damage.named())
    places.push_back({{"byte", place.byte}, {"what", place.what}});
  return {{"count", damage.count()}, {"first", std::move(places)}};
}

Json OfTrace(const kineto::KernelTrace& trace) {
  Json streams = Json::array();
  for (const kineto::StreamUse& use : StreamUses(trace)) {
    streams.push_back({{"device", use.stream.device},
                       {"stream", use.stream.number},
                       {"activities", use.activities},
                       {"busy_seconds", Seconds(use.busy_ns)}});
  }
  Json json = {{"rank", *trace.rank},       {"file", trace.file},
               {"events", trace.events},    {"streams", std::move(streams)},
               {"not_kept", trace.ignored}, {"damage", OfDamage(trace.damage)}};
  if (trace.world_size) json["world_size"] = *trace.world_size;
  return json;
}

Json OfCollective(const kineto::CollectiveUse& use) {
  Json json = {{"kind", use.kind},
               {"group", use.group},
               {"ranks_read", use.ranks},
               {"calls", use.calls},
               {"calls_of_unknown_bytes", use.unknown_bytes},
               {"seconds", Seconds(use.total_ns)},
               {"matched_calls", use.matched},
               {"matched_waiting_seconds", Seconds(use.waiting_ns)},
               {"matched_transfer_seconds", Seconds(use.transfer_ns)}};
  if (use.group_size > 0) json["group_size"] = use.group_size;
  if (use.bytes >= 0) json["bytes"] = use.bytes;
  return json;
}

template <typename Items, typename Writer>
Json ListOf(const Items& items, Writer write) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(write(item));
  return list;
}

Json OfKernel(const kineto::KernelUse& use) {
  return {{"name", use.name},
          {"kind", Name(use.kind)},
          {"count", use.count},
          {"mean_seconds", use.mean_ns * kNs},
          {"sd_seconds", use.sd_ns * kNs},
          {"share", use.share}};
}

}  // namespace

std::string TraceSummaryJson(const JoinedTrace& joined,
                             const kineto::ProfileCheck& check) {
  const Json json = {
      {"measured", {{"mean_seconds", check.measured_mean_seconds}}},
      {"predicted",
       {{"mean_seconds", check.predicted_mean_seconds},
        {"p50_seconds", check.predicted_p50_seconds},
        {"p95_seconds", check.predicted_p95_seconds},
        {"error", check.relative_error()}}},
      {"marked_by", Name(joined.mark)},
      {"clock", joined.clock == kineto::StepClock::kHost ? "host" : "device"},
      {"marked_mean_seconds", joined.marked_mean_ns * kNs},
      {"steps", ListOf(joined.steps,
                       [&joined](const kineto::JoinedStep& step) {
                         return OfStep(joined, step);
                       })},
      {"traces", ListOf(joined.traces, OfTrace)},
      {"collectives", ListOf(joined.collectives.uses, OfCollective)},
      {"kernels", ListOf(joined.kernels, OfKernel)},
      {"notes", joined.notes}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace prism::import
