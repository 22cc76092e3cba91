// Costed tasks: what a job's step is made of, in nominal seconds.
//
// The step graph and the nominal evaluation are both put together from the
// same tasks, so they cannot disagree about one.
#ifndef PRISM_CORE_ESTIMATE_COSTED_TASK_H_
#define PRISM_CORE_ESTIMATE_COSTED_TASK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/hardware/fabric.h"

namespace prism::estimate {

// What time is spent on: StepGraph::kinds, in this order.
enum class TaskKind : uint8_t {
  kCompute,
  kRecompute,
  kTensorCommunication,
  kContextCommunication,
  kPipelineCommunication,
  kDataCommunication,
  kOptimizer,
  kHost,     // the framework's own work between kernels
  kOffload,  // activations on their way to the host and back
};
inline constexpr size_t kTaskKinds = 9;

std::vector<std::string> TaskKindNames();

// Whether time of links; else work of a GPU and its host, which the node's
// slowdown stretches.
bool IsCommunication(TaskKind kind);

// Who waits for whom before a task starts.
enum class Meeting : uint8_t { kNobody, kLanes, kReplicas };

struct CostedTask {
  TaskKind kind = TaskKind::kCompute;
  Meeting meeting = Meeting::kNobody;
  hardware::LinkTime time = {};  // where it is not communication: no latency
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
  // What traffic of the data group can run beside: kernels, what is left of the
  // lanes' collectives and of copies to the host, and the host's own work,
  // during which links are free. Faster kernels never make it shorter by more
  // than they are faster, whatever they hide themselves.
  double window() const {
    return (*this)[TaskKind::kCompute] + (*this)[TaskKind::kRecompute] +
           (*this)[TaskKind::kTensorCommunication] +
           (*this)[TaskKind::kContextCommunication] + (*this)[TaskKind::kHost] +
           (*this)[TaskKind::kOffload];
  }

 private:
  std::array<double, kTaskKinds> seconds_ = {};
};

KindSeconds SumOf(const CostedTasks& tasks);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_COSTED_TASK_H_
