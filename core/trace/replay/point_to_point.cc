#include "core/trace/replay/point_to_point.h"

#include <algorithm>
#include <limits>
#include <map>

namespace prism::trace {
namespace {

// Clocks of streams differ by less.
constexpr double kSlackSeconds = 5e-5;

constexpr bool IsSend(OperationKind kind) {
  return kind == OperationKind::kForwardSend ||
         kind == OperationKind::kBackwardSend;
}

constexpr bool IsForward(OperationKind kind) {
  return kind == OperationKind::kForwardSend ||
         kind == OperationKind::kForwardReceive;
}

// The boundary that `kind` crosses at a compute of `virtual_stage`.
int32_t Boundary(OperationKind kind, int32_t virtual_stage,
                 const Sizes& sizes) {
  const bool after = IsForward(kind) == IsSend(kind);
  const int32_t boundary = after ? virtual_stage : virtual_stage - 1;
  const int32_t last = sizes.pipeline * sizes.chunks - 1;
  return boundary < 0 || boundary >= last ? kNone : boundary;
}

class Matcher {
 public:
  Matcher(const Step& step, const Sizes& sizes, const WorkerOperations& worker,
          OperationKind kind)
      : step_(step),
        kind_(kind),
        computes_(worker.Of(IsForward(kind) ? OperationKind::kForwardCompute
                                            : OperationKind::kBackwardCompute)),
        operations_(worker.Of(kind)) {
    for (const int32_t compute : computes_) {
      const Operation& operation = At(compute);
      first_end_ = std::min(first_end_, operation.end_seconds());
      last_start_ = std::max(last_start_, operation.start_seconds);
      boundaries_.push_back(
          Boundary(kind, VirtualStage(operation, sizes), sizes));
    }
  }

  std::vector<Served> Match() {
    std::vector<Served> served;
    for (const int32_t operation : operations_) {
      served.push_back({operation});
      if (!IsOfTheEnds(operation)) real_.push_back(served.size() - 1);
    }
    const std::vector<size_t> numbers = Numbers();
    std::map<int32_t, int32_t> crossed;
    for (size_t i = 0; i < std::min(real_.size(), numbers.size()); ++i) {
      Served& one = served[real_[i]];
      one.number = static_cast<int32_t>(numbers[i]);
      one.compute = computes_[numbers[i]];
      one.boundary = boundaries_[numbers[i]];
      if (one.boundary != kNone) one.occurrence = crossed[one.boundary]++;
    }
    return served;
  }

 private:
  const Operation& At(int32_t i) const {
    return step_.operations[static_cast<size_t>(i)];
  }

  // A receive that begins after the last compute did has nothing to receive
  // for; a send that is over before the first has ended, nothing to send.
  bool IsOfTheEnds(int32_t i) const {
    return IsSend(kind_) ? At(i).end_seconds() < first_end_ - kSlackSeconds
                         : At(i).start_seconds > last_start_ + kSlackSeconds;
  }

  // The computes that are served, by number. Either only those that cross a
  // boundary have an operation or all do; the first receive may be missing.
  std::vector<size_t> Numbers() const {
    std::vector<size_t> all, crossing;
    for (size_t i = 0; i < computes_.size(); ++i) {
      all.push_back(i);
      if (boundaries_[i] != kNone) crossing.push_back(i);
    }
    if (real_.size() <= crossing.size()) return crossing;
    if (!IsSend(kind_) && real_.size() + 1 == all.size()) {
      all.erase(all.begin());
    }
    return all;
  }

  const Step& step_;
  OperationKind kind_;
  const std::vector<int32_t>& computes_;
  const std::vector<int32_t>& operations_;
  std::vector<int32_t> boundaries_;
  std::vector<size_t> real_;
  double first_end_ = std::numeric_limits<double>::infinity();
  double last_start_ = -std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<Served> ServedBy(const Step& step, const Sizes& sizes,
                             const WorkerOperations& worker,
                             OperationKind kind) {
  return Matcher(step, sizes, worker, kind).Match();
}

}  // namespace prism::trace
