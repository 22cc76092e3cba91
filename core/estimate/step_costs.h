// Step costs: what a job's step is made of, in nominal seconds.
//
// A step is few parts, many times: a layer, the embedding, the head, each
// forward and backward, transfers between stages, and what follows the last
// backward. The step graph and the nominal evaluation are both put together
// from the parts here, so they cannot disagree about one.
#ifndef PRISM_CORE_ESTIMATE_STEP_COSTS_H_
#define PRISM_CORE_ESTIMATE_STEP_COSTS_H_

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/estimate/cost.h"
#include "core/hardware/fabric.h"
#include "core/workload/job.h"

namespace prism::estimate {

// What time is spent on: StepGraph::kinds, in this order.
enum class TaskKind : uint8_t {
  kCompute,
  kRecompute,
  kTensorCommunication,
  kPipelineCommunication,
  kDataCommunication,
  kOptimizer,
};
inline constexpr size_t kTaskKinds = 6;

std::vector<std::string> TaskKindNames();

// Whether the work of a GPU itself, which its slowdown stretches.
bool IsOwnWork(TaskKind kind);

// Who waits for whom before a task starts.
enum class Meeting : uint8_t { kNobody, kLanes, kReplicas };

struct CostedTask {
  TaskKind kind = TaskKind::kCompute;
  Meeting meeting = Meeting::kNobody;
  hardware::LinkTime time;  // of own work: no latency
};

// Tasks one after another.
using CostedTasks = std::vector<CostedTask>;

// Seconds by TaskKind.
class KindSeconds final {
 public:
  double& operator[](TaskKind kind) {
    return seconds_[static_cast<size_t>(kind)];
  }
  double operator[](TaskKind kind) const {
    return seconds_[static_cast<size_t>(kind)];
  }
  // Adds `count` times what `other` holds.
  void Add(const KindSeconds& other, double count = 1) {
    for (size_t i = 0; i < kTaskKinds; ++i) {
      seconds_[i] += count * other.seconds_[i];
    }
  }
  double total() const;

 private:
  std::array<double, kTaskKinds> seconds_ = {};
};

KindSeconds SumOf(const CostedTasks& tasks);

// A part of the model, forward and backward, on one GPU and for one
// micro-batch.
struct PartCosts {
  CostedTasks forward;
  CostedTasks backward;
};

struct ModelCosts {
  PartCosts layer;
  PartCosts embedding;
  PartCosts head;
};

// Factor `slowdown` stretches the GPUs' own work.
//
// Errors: those of `cost`.
absl::StatusOr<ModelCosts> CostOfModel(const workload::Job& job,
                                       const Cost& cost, double slowdown);

// Which parts a virtual stage runs.
struct StageParts {
  int64_t layers = 0;
  bool embedding = false;
  bool head = false;
};
StageParts PartsOf(const workload::Job& job, int64_t virtual_stage);

// A transfer over the boundary behind `stage`, which holds its sender up.
CostedTask CostOfTransfer(const workload::Job& job, const Cost& cost,
                          int64_t stage);

// What follows the last operation of `stage`: gradients are reduced, then each
// GPU updates its parameters.
//
// Errors: those of `cost`.
absl::StatusOr<CostedTasks> CostOfClosing(const workload::Job& job,
                                          const Cost& cost, double slowdown,
                                          int64_t stage);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_STEP_COSTS_H_
