#include "core/step/schedules/pipeline_order.h"

#include <absl/strings/str_cat.h>

#include <array>
#include <cstdint>
#include <string>

#include "core/step/schedules/nominal_run.h"

namespace prism::step {
namespace {

absl::Status Broken(const std::string& what) {
  return absl::InvalidArgumentError("pipeline order: " + what);
}

absl::Status CheckShape(const PipelineOrder& order) {
  if (order.microbatches < 1) return Broken("microbatches is below 1");
  if (order.stage_of.empty()) return Broken("there are no virtual stages");
  if (order.chains < 1 || order.virtual_stages() % order.chains != 0 ||
      order.microbatches % order.chains != 0) {
    return Broken("chains divides virtual stages or micro-batches unevenly");
  }
  for (int stage : order.stage_of) {
    if (stage < 0 || stage >= order.stages()) {
      return Broken(absl::StrCat("virtual stages lie on stage ", stage, " of ",
                                 order.stages()));
    }
  }
  if (!order.joined.empty() && order.joined.size() != order.passes()) {
    return Broken("joined does not have one entry for each backward");
  }
  return absl::OkStatus();
}

bool Belongs(const PipelineOrder& order, int stage, const Operation& op) {
  return op.virtual_stage >= 0 && op.virtual_stage < order.virtual_stages() &&
         op.microbatch >= 0 && op.microbatch < order.microbatches &&
         order.stage_of[op.virtual_stage] == stage &&
         order.chain_of(op.microbatch) ==
             op.virtual_stage / order.chain_length() &&
         (op.phase != Phase::kBackwardWeight || order.splits_backward);
}

absl::Status CheckComplete(const PipelineOrder& order) {
  std::vector<uint8_t> done(order.passes());
  size_t operations = 0;
  for (int stage = 0; stage < order.stages(); ++stage) {
    for (const Operation& op : order.operations[stage]) {
      const std::string what =
          absl::StrCat("stage ", stage, ": ", Describe(op));
      if (!Belongs(order, stage, op)) return Broken(what + " is not its own");
      uint8_t& so_far = done[order.index(op)];
      if (so_far != static_cast<int>(op.phase)) {
        return Broken(what + " runs twice or before what it needs");
      }
      ++so_far;
      ++operations;
    }
  }
  const size_t expected = static_cast<size_t>(order.chain_length()) *
                          order.microbatches * (order.splits_backward ? 3 : 2);
  if (operations != expected) {
    return Broken(
        absl::StrCat("has ", operations, " operations, needs ", expected));
  }
  return absl::OkStatus();
}

absl::Status CheckJoined(const PipelineOrder& order) {
  for (const auto& operations : order.operations) {
    for (size_t at = 0; at < operations.size(); ++at) {
      if (!order.is_joined(operations[at])) continue;
      Operation weight = operations[at];
      weight.phase = Phase::kBackwardWeight;
      if (at + 1 == operations.size() || operations[at + 1] != weight) {
        return Broken("the " + Describe(weight) +
                      " does not follow the backward it is joined to");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string Describe(const Operation& operation) {
  constexpr std::array<const char*, kPhases> kNames = {"forward", "backward",
                                                       "weight part"};
  return absl::StrCat(kNames[static_cast<int>(operation.phase)],
                      " of micro-batch ", operation.microbatch,
                      " on virtual stage ", operation.virtual_stage);
}

absl::Status Validate(const PipelineOrder& order) {
  for (auto check : {CheckShape, CheckComplete, CheckJoined}) {
    if (auto status = check(order); !status.ok()) return status;
  }
  return RunNominally(order, UniformTimes(order, {})).status();
}

}  // namespace prism::step
