#include "core/step/schedule.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "core/base/check.h"
#include "core/step/schedules/generators.h"
#include "core/step/schedules/round_robin.h"

namespace prism::step {
namespace {

using Size = ShapeProblem::Size;

bool IsDual(ScheduleKind kind) {
  return kind == ScheduleKind::kDualPipe || kind == ScheduleKind::kDualPipeV;
}

// Whether a stage may have any number of chunks.
bool TakesAnyChunks(ScheduleKind kind) {
  return kind == ScheduleKind::kInterleaved ||
         kind == ScheduleKind::kBreadthFirst ||
         kind == ScheduleKind::kAutomatic || kind == ScheduleKind::kCustom ||
         kind == ScheduleKind::kRoundRobin;
}

// Collects what is wrong, in words that name the schedule.
class ShapeCheck {
 public:
  explicit ShapeCheck(ScheduleKind kind) : kind_(kind) {}

  void Require(bool holds, Size size, int value, const std::string& must) {
    if (holds) return;
    problems_.push_back(
        {size, absl::StrCat("is ", value, "; must be ", must, " for the ",
                            std::string(NameOf(kind_)), " schedule")});
  }

  std::vector<ShapeProblem> Problems() && { return std::move(problems_); }

 private:
  ScheduleKind kind_;
  std::vector<ShapeProblem> problems_;
};

}  // namespace

std::string_view NameOf(ShapeProblem::Size size) {
  switch (size) {
    case Size::kStages:
      return "pipeline";
    case Size::kChunks:
      return "virtual";
    case Size::kMicrobatches:
      return "microbatches";
  }
  return "";
}

std::string_view NameOf(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::kGpipe:
      return "gpipe";
    case ScheduleKind::kOneForwardOneBackward:
      return "1f1b";
    case ScheduleKind::kInterleaved:
      return "interleaved";
    case ScheduleKind::kBreadthFirst:
      return "breadth-first";
    case ScheduleKind::kZeroBubbleH1:
      return "zb-h1";
    case ScheduleKind::kZeroBubbleH2:
      return "zb-h2";
    case ScheduleKind::kZeroBubbleV:
      return "zb-v";
    case ScheduleKind::kHalfMemoryV:
      return "v-half";
    case ScheduleKind::kThirdMemoryV:
      return "v-min";
    case ScheduleKind::kDualPipe:
      return "dualpipe";
    case ScheduleKind::kDualPipeV:
      return "dualpipe-v";
    case ScheduleKind::kAutomatic:
      return "zb-auto";
    case ScheduleKind::kCustom:
      return "custom";
    case ScheduleKind::kTwoBufferedWeights:
      return "2bw";
    case ScheduleKind::kBubbleFree:
      return "bubble-free";
    case ScheduleKind::kRoundRobin:
      return "round-robin";
  }
  return "";
}

bool NeedsParts(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::kGpipe:
    case ScheduleKind::kOneForwardOneBackward:
    case ScheduleKind::kInterleaved:
    case ScheduleKind::kBreadthFirst:
    case ScheduleKind::kCustom:
      return false;
    default:
      return !IsContinuous(kind);
  }
}

bool IsContinuous(ScheduleKind kind) {
  return kind == ScheduleKind::kTwoBufferedWeights ||
         kind == ScheduleKind::kBubbleFree || kind == ScheduleKind::kRoundRobin;
}

int WeightVersions(ScheduleKind kind) {
  return kind == ScheduleKind::kTwoBufferedWeights ? 2 : 1;
}

int DefaultChunks(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::kZeroBubbleV:
    case ScheduleKind::kHalfMemoryV:
    case ScheduleKind::kThirdMemoryV:
    case ScheduleKind::kDualPipe:
    case ScheduleKind::kDualPipeV:
      return 2;
    default:
      return 1;
  }
}

std::vector<ShapeProblem> CheckShape(ScheduleKind kind,
                                     const PipelineShape& shape) {
  ShapeCheck check(kind);
  const auto [p, v, m] = shape;
  if (!TakesAnyChunks(kind)) {
    const int chunks = DefaultChunks(kind);
    check.Require(v == chunks, Size::kChunks, v, absl::StrCat(chunks));
  }
  if (kind == ScheduleKind::kInterleaved) {
    check.Require(p > 1, Size::kStages, p, "above 1");
  }
  if (kind == ScheduleKind::kDualPipe) {
    check.Require(p % 2 == 0, Size::kStages, p, "even");
    check.Require(m % 2 == 0, Size::kMicrobatches, m, "even");
  }
  if (kind == ScheduleKind::kTwoBufferedWeights) {
    check.Require(m >= p, Size::kMicrobatches, m,
                  absl::StrCat("at least the ", p, " stages"));
  }
  if (IsDual(kind)) {
    check.Require(m / 2 >= p, Size::kMicrobatches, m,
                  absl::StrCat("at least twice the ", p, " stages"));
  }
  return std::move(check).Problems();
}

namespace {

absl::Status ShapeStatus(ScheduleKind kind, const PipelineShape& shape) {
  const auto problems = CheckShape(kind, shape);
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(
      problems, "; ", [](std::string* out, const ShapeProblem& problem) {
        absl::StrAppend(out, std::string(NameOf(problem.size)), " ",
                        problem.what);
      }));
}

}  // namespace

absl::StatusOr<PipelineOrder> MakeOrder(ScheduleKind kind,
                                        const PipelineShape& shape) {
  if (auto status = ShapeStatus(kind, shape); !status.ok()) return status;
  const auto [p, v, m] = shape;
  switch (kind) {
    case ScheduleKind::kGpipe:
      return GpipeOrder(p, m);
    case ScheduleKind::kOneForwardOneBackward:
      return OneForwardOneBackwardOrder(p, m);
    case ScheduleKind::kInterleaved:
      return InterleavedOrder(p, v, m, SmallestGroup(p, m));
    case ScheduleKind::kBreadthFirst:
      return BreadthFirstOrder(p, v, m);
    case ScheduleKind::kZeroBubbleH1:
      return ZeroBubbleH1Order(p, m);
    case ScheduleKind::kZeroBubbleH2:
      return ZeroBubbleH2Order(p, m);
    case ScheduleKind::kZeroBubbleV:
      return ZeroBubbleVOrder(p, m);
    case ScheduleKind::kHalfMemoryV:
      return HalfMemoryVOrder(p, m);
    case ScheduleKind::kThirdMemoryV:
      return ThirdMemoryVOrder(p, m);
    case ScheduleKind::kDualPipe:
      return DualPipeOrder(p, m);
    case ScheduleKind::kDualPipeV:
      return DualPipeVOrder(p, m);
    case ScheduleKind::kAutomatic:
    case ScheduleKind::kCustom:
    case ScheduleKind::kTwoBufferedWeights:
    case ScheduleKind::kBubbleFree:
    case ScheduleKind::kRoundRobin:
      break;
  }
  PRISM_CHECK(false);
  return absl::InternalError("unreachable");
}

absl::StatusOr<ContinuousRun> MakeRun(ScheduleKind kind,
                                      const PipelineShape& shape) {
  PRISM_CHECK(IsContinuous(kind));
  if (auto status = ShapeStatus(kind, shape); !status.ok()) return status;
  const auto [p, v, m] = shape;
  const int steps = WarmUpSteps(p, m) + 1;
  if (kind == ScheduleKind::kRoundRobin) return RoundRobinRun(p, v, m, steps);
  return OneForwardOneBackwardRun(p, m, steps);
}

}  // namespace prism::step
