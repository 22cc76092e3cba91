#include "core/trace/replay/typical.h"

#include <algorithm>

namespace prism::trace {

void TypicalGatherer::Add(const RecordedStep& step) {
  const auto& operations = step.step().operations;
  for (size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if (!step.IsKnown(i)) continue;
    const auto kind = static_cast<size_t>(operation.kind);
    const WorkerKey key{operation.replica, operation.stage};
    pools_[kind].Add(step.work()[i]);
    WorkerMean& mean = typical_.workers[key][kind];
    mean.sum += step.work()[i];
    ++mean.count;
    int32_t& rank = typical_.ranks.try_emplace(key, kNone).first->second;
    rank = std::max(rank, operation.rank);
  }
}

Typical TypicalGatherer::Finish() const {
  Typical typical = typical_;
  for (size_t i = 0; i < pools_.size(); ++i) {
    typical.count[i] = pools_[i].count();
    typical.seconds[i] = IsCommunication(static_cast<OperationKind>(i))
                             ? pools_[i].Median()
                             : pools_[i].Mean();
  }
  return typical;
}

}  // namespace prism::trace
