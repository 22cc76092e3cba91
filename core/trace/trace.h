// Trace: what each worker of a training job was recorded to do.
//
// A worker is one stage of one replica: the ranks of its tensor group run the
// same operations at the same time and are recorded once. A step is the
// operations of all workers between two updates of the parameters. Recorded
// durations of communication hold the waiting for others; core/trace/replay
// takes the two apart.
//
// Traces are larger than memory: readers hand over one step after the other
// (StepSource), and only what fits is held as a Trace. Plain values, in
// seconds.
#ifndef PRISM_CORE_TRACE_TRACE_H_
#define PRISM_CORE_TRACE_TRACE_H_

#include <absl/status/status.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prism::trace {

enum class OperationKind : uint8_t {
  kForwardCompute,
  kBackwardCompute,
  kForwardSend,
  kForwardReceive,
  kBackwardSend,
  kBackwardReceive,
  kParamsAllGather,
  kGradsReduceScatter,
  kSeparateGradsAllReduce,
  kEmbeddingGradsAllReduce,
  kLayernormGradsAllReduce,
  kOptimizerClip,
  kOptimizer,
  kGarbageCollection,
};
inline constexpr int kOperationKinds = 14;

// As traces spell it: "forward-compute", "optimizer-clip-main-grad", "gc".
std::string_view KindName(OperationKind kind);
std::optional<OperationKind> KindNamed(std::string_view name);

constexpr bool IsCompute(OperationKind kind) {
  return kind == OperationKind::kForwardCompute ||
         kind == OperationKind::kBackwardCompute;
}

// Between neighbouring stages of one replica.
constexpr bool IsPointToPoint(OperationKind kind) {
  return kind >= OperationKind::kForwardSend &&
         kind <= OperationKind::kBackwardReceive;
}

// Between the workers of a stage in all replicas.
constexpr bool IsDataGroup(OperationKind kind) {
  return kind >= OperationKind::kParamsAllGather &&
         kind <= OperationKind::kSeparateGradsAllReduce;
}

// What a job is cut into. Products: ranks = data * pipeline * tensor * context.
struct Sizes {
  int data = 1;      // replicas
  int pipeline = 1;  // stages
  int chunks = 1;    // model chunks a stage, as interleaved schedules have them
  int tensor = 1;
  int context = 1;

  int workers() const { return data * pipeline; }
  bool operator==(const Sizes&) const = default;
};

// Not recorded: of ranks, chunks, virtual stages and micro-batches.
inline constexpr int32_t kNone = -1;

struct Operation {
  OperationKind kind = OperationKind::kForwardCompute;
  int16_t chunk = kNone;  // of the worker's stage
  int32_t replica = 0;
  int32_t stage = 0;
  int32_t rank = kNone;           // the worker's first rank in the job
  int32_t virtual_stage = kNone;  // of the whole model
  int32_t microbatch = kNone;
  // How many operations of its kind the worker began before it in the step.
  int32_t sequence = 0;
  double start_seconds = 0;     // since some time that all of the step share
  double duration_seconds = 0;  // at least 0

  double end_seconds() const { return start_seconds + duration_seconds; }
  bool operator==(const Operation&) const = default;
};

// One recorded step, by replica, stage, kind and sequence (step_order.h).
struct Step {
  int64_t number = 0;
  std::vector<Operation> operations;
};

// From the first start to the last end. 0 without operations.
double MeasuredSeconds(const Step& step);

// A trace that can be read again and again, step by step. Steps come in the
// order of the recording and live until `visit` returns. Not thread-safe.
class StepSource {
 public:
  virtual ~StepSource() = default;

  virtual const Sizes& sizes() const = 0;
  // Stops at the first error, be it of `visit` or of reading, and returns it.
  virtual absl::Status ForEach(
      const std::function<absl::Status(const Step&)>& visit) = 0;
};

// A trace in memory.
struct Trace {
  Sizes sizes;
  std::vector<Step> steps;
};

// `trace` as a source. It must outlive the source.
class TraceSource final : public StepSource {
 public:
  explicit TraceSource(const Trace& trace) : trace_(trace) {}

  const Sizes& sizes() const override { return trace_.sizes; }
  absl::Status ForEach(
      const std::function<absl::Status(const Step&)>& visit) override;

 private:
  const Trace& trace_;
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_TRACE_H_
