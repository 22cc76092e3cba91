#include "core/estimate/costed_task.h"

#include <numeric>

namespace prism::estimate {

std::vector<std::string> TaskKindNames() {
  return {"compute",
          "recompute",
          "tensor_communication",
          "context_communication",
          "pipeline_communication",
          "data_communication",
          "optimizer",
          "host",
          "offload"};
}

bool IsCommunication(TaskKind kind) {
  switch (kind) {
    case TaskKind::kCompute:
    case TaskKind::kRecompute:
    case TaskKind::kOptimizer:
    case TaskKind::kHost:
      return false;
    case TaskKind::kTensorCommunication:
    case TaskKind::kContextCommunication:
    case TaskKind::kPipelineCommunication:
    case TaskKind::kDataCommunication:
    case TaskKind::kOffload:
      return true;
  }
  return false;
}

double KindSeconds::total() const {
  return std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
}

KindSeconds SumOf(const CostedTasks& tasks) {
  KindSeconds sum;
  for (const CostedTask& task : tasks) sum[task.kind] += task.time.seconds;
  return sum;
}

}  // namespace prism::estimate
