#include "core/step/schedules/pipeline_order.h"

#include <absl/strings/str_cat.h>

#include <array>
#include <string>
#include <utility>

#include "core/step/pass_progress.h"
#include "core/step/schedules/nominal_run.h"

namespace prism::step {
namespace {

absl::Status Broken(const std::string& what) {
  return absl::InvalidArgumentError("pipeline order: " + what);
}

absl::Status CheckSizes(const PipelineOrder& order) {
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
  return absl::OkStatus();
}

bool Belongs(const PipelineOrder& order, int stage, const Operation& op) {
  return op.virtual_stage >= 0 && op.virtual_stage < order.virtual_stages() &&
         op.microbatch >= 0 && op.microbatch < order.microbatches &&
         order.stage_of[op.virtual_stage] == stage &&
         order.chain_of(op.microbatch) ==
             op.virtual_stage / order.chain_length();
}

// What must come next on the first virtual stage where anything is missing.
absl::Status CheckNothingMissing(const PipelineOrder& order,
                                 const std::vector<PassProgress>& progress) {
  constexpr std::array<Phase, 3> kNext = {Phase::kForward, Phase::kBackward,
                                          Phase::kBackwardWeight};
  for (int u = 0; u < order.virtual_stages(); ++u) {
    for (int i = 0; i < order.microbatches; ++i) {
      Operation op{Phase::kForward, u, i};
      const PassProgress so_far = progress[order.index(op)];
      if (!Belongs(order, order.stage_of[u], op)) continue;
      if (so_far == PassProgress::kDone) continue;
      op.phase = kNext[static_cast<int>(so_far)];
      return Broken(absl::StrCat("stage ", order.stage_of[u], ": ",
                                 Describe(op), " is missing"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckComplete(const PipelineOrder& order) {
  std::vector<PassProgress> progress(order.passes());
  for (int stage = 0; stage < order.stages(); ++stage) {
    for (const Operation& op : order.operations[stage]) {
      const std::string what =
          absl::StrCat("stage ", stage, ": ", Describe(op));
      if (!Belongs(order, stage, op)) return Broken(what + " is not its own");
      if (!Advance(op.phase, progress[order.index(op)])) {
        return Broken(what + " runs twice or before what it needs");
      }
    }
  }
  return CheckNothingMissing(order, progress);
}

}  // namespace

std::string Describe(const Operation& operation) {
  constexpr std::array<const char*, kPhases> kNames = {
      "forward", "backward", "input part", "weight part"};
  return absl::StrCat(kNames[static_cast<int>(operation.phase)],
                      " of micro-batch ", operation.microbatch,
                      " on virtual stage ", operation.virtual_stage);
}

std::array<std::vector<bool>, kPhases> PhasesOf(const PipelineOrder& order) {
  std::array<std::vector<bool>, kPhases> runs;
  for (auto& virtual_stages : runs) {
    virtual_stages.resize(order.stage_of.size());
  }
  for (const auto& operations : order.operations) {
    for (const Operation& op : operations) {
      runs[static_cast<int>(op.phase)][op.virtual_stage] = true;
    }
  }
  return runs;
}

bool SplitsBackward(const PipelineOrder& order) {
  for (const auto& operations : order.operations) {
    for (const Operation& op : operations) {
      if (op.phase == Phase::kBackwardInput) return true;
    }
  }
  return false;
}

absl::Status Validate(const PipelineOrder& order) {
  for (auto check : {CheckSizes, CheckComplete}) {
    if (auto status = check(order); !status.ok()) return status;
  }
  return RunNominally(order, UniformTimes(order, {})).status();
}

void PutOrder(PipelineOrder order, StepGraph& graph) {
  graph.microbatches = order.microbatches;
  graph.stage_of = std::move(order.stage_of);
  graph.chains = order.chains;
  graph.order = std::move(order.operations);
}

}  // namespace prism::step
