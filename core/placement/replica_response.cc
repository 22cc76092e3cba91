#include "core/placement/replica_response.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/stats/draw_kernels.h"

namespace prism::placement {
namespace {

using step::PlannedOperation;

constexpr int kHalf = kColumns / 2;
// Rows of `arrivals` before those of the plan's slots.
constexpr int kFirstSlot = 2;

int32_t RowOfSlot(int slot, int32_t otherwise) {
  return slot == step::kAbsent ? otherwise : slot + kFirstSlot;
}

double HopOf(const PlannedOperation& planned, const StepTimes& times) {
  if (planned.sends == step::kAbsent) return 0;
  const auto& hops = planned.operation.phase == step::Phase::kForward
                         ? times.forward_hop
                         : times.backward_hop;
  return hops[planned.boundary];
}

}  // namespace

absl::StatusOr<ReplicaResponse> ReplicaResponse::Create(
    const step::StepGraph& graph, uint64_t random_key) {
  absl::StatusOr<step::ExecutionPlan> plan = step::PlanExecution(graph);
  if (!plan.ok()) return plan.status();
  ReplicaResponse response;
  response.stages_ = graph.grid.stages;
  response.virtual_stages_ = graph.virtual_stages();
  response.plan_ = *std::move(plan);
  response.DrawScores(random_key);
  return response;
}

void ReplicaResponse::DrawScores(uint64_t random_key) {
  const size_t count = plan_.operations.size();
  scores_.resize(kDrawRows * count * kColumns);
  const std::vector<uint64_t> replica(kHalf, 0);
  std::vector<uint64_t> sample(kHalf);
  std::vector<double> score(kHalf), second(kHalf);
  for (int row = 0; row < kDrawRows; ++row) {
    for (int i = 0; i < kHalf; ++i) {
      sample[i] = static_cast<uint64_t>(row * kHalf + i);
    }
    for (size_t k = 0; k < count; ++k) {
      stats::UniformRows({.key = random_key,
                          .operation = plan_.operations[k].id,
                          .replica = replica.data(),
                          .sample = sample.data()},
                         kHalf, score.data(), second.data());
      stats::NormalScores(score.data(), kHalf, score.data());
      float* out = &scores_[(row * count + k) * kColumns];
      for (int i = 0; i < kHalf; ++i) {
        out[i] = static_cast<float>(score[i]);
        out[kHalf + i] = -out[i];
      }
    }
  }
}

TimedPipeline ReplicaResponse::Timed(const StepTimes& times) const {
  TimedPipeline pipeline;
  pipeline.reserve(plan_.operations.size());
  for (const PlannedOperation& planned : plan_.operations) {
    const auto& operation = planned.operation;
    const OperationTime& time =
        times
            .operations[static_cast<size_t>(operation.phase) * virtual_stages_ +
                        operation.virtual_stage];
    pipeline.push_back(
        {.stage = planned.stage,
         .receives = RowOfSlot(planned.receives, kNothingReceived),
         .sends = RowOfSlot(planned.sends, kNobodyReceives),
         .compute = static_cast<float>(time.compute),
         .network = static_cast<float>(time.network),
         .hop = static_cast<float>(HopOf(planned, times)),
         .deviation = static_cast<float>(time.deviation)});
  }
  return pipeline;
}

void ReplicaResponse::Prepare(Workspace& workspace) const {
  workspace.slowdown_.resize(stages_ * kColumns);
  workspace.clock_.resize(stages_ * kColumns);
  workspace.arrivals_.resize((plan_.slots + kFirstSlot) * kColumns);
}

void ReplicaResponse::Ends(const TimedPipeline& pipeline, const float* slowdown,
                           Workspace& workspace, float* clock) const {
  Prepare(workspace);
  RunPipeline(pipeline, stages_, slowdown, nullptr, clock,
              workspace.arrivals_.data());
}

void ReplicaResponse::MeanEnds(const TimedPipeline& pipeline,
                               std::span<const float> slowdown_of_stage,
                               int rows, Workspace& workspace,
                               float* clock_of_stage) const {
  PRISM_CHECK(rows >= 1 && rows <= kDrawRows);
  Prepare(workspace);
  for (int s = 0; s < stages_; ++s) {
    std::fill_n(&workspace.slowdown_[s * kColumns], kColumns,
                slowdown_of_stage[s]);
    clock_of_stage[s] = 0;
  }
  for (int row = 0; row < rows; ++row) {
    RunPipeline(pipeline, stages_, workspace.slowdown_.data(),
                &scores_[row * pipeline.size() * kColumns],
                workspace.clock_.data(), workspace.arrivals_.data());
    for (int s = 0; s < stages_; ++s) {
      const float* clock = &workspace.clock_[s * kColumns];
      double sum = 0;
      for (int i = 0; i < kColumns; ++i) sum += clock[i];
      clock_of_stage[s] += static_cast<float>(sum / (kColumns * rows));
    }
  }
}

double ReplicaResponse::EndDeviation(const TimedPipeline& pipeline,
                                     std::span<const float> slowdown_of_stage,
                                     Workspace& workspace) const {
  Prepare(workspace);
  for (int s = 0; s < stages_; ++s) {
    std::fill_n(&workspace.slowdown_[s * kColumns], kColumns,
                slowdown_of_stage[s]);
  }
  double sum = 0, squares = 0;
  for (int row = 0; row < kDrawRows; ++row) {
    RunPipeline(pipeline, stages_, workspace.slowdown_.data(),
                &scores_[row * pipeline.size() * kColumns],
                workspace.clock_.data(), workspace.arrivals_.data());
    for (int i = 0; i < kColumns; ++i) {
      double end = 0;
      for (int s = 0; s < stages_; ++s) {
        end = std::max<double>(end, workspace.clock_[s * kColumns + i]);
      }
      sum += end;
      squares += end * end;
    }
  }
  const double count = kDrawRows * kColumns;
  const double mean = sum / count;
  return std::sqrt(std::max(0.0, squares / count - mean * mean));
}

}  // namespace prism::placement
