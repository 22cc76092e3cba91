#include "core/step/block_simulator.h"

#include <algorithm>

namespace prism::step {
namespace {

// Rows of a block stay within a typical second-level cache.
constexpr size_t kBlockBytes = 256 << 10;
constexpr size_t kFewestElements = 32;
constexpr size_t kMostElements = 1024;

// Draws between two looks at the budget and the memory: well below a
// millisecond, and a few megabytes.
constexpr size_t kDrawsBetweenPolls = 100'000;

}  // namespace

BlockSimulator::BlockSimulator(const CompiledGraph& compiled,
                               uint64_t random_key, DrawMode mode)
    : compiled_(compiled),
      graph_(*compiled.graph),
      runner_(compiled, random_key, mode) {}

size_t BlockSimulator::PreferredElements(const CompiledGraph& compiled) {
  const RankGrid& grid = compiled.graph->grid;
  const size_t rows =
      (2 * grid.stages + compiled.plan.slots + 6 + compiled.stream_rows) *
      static_cast<size_t>(grid.lanes);
  return stats::RowSize(std::clamp(kBlockBytes / (rows * sizeof(double)),
                                   kFewestElements, kMostElements));
}

void BlockSimulator::ResetClocks(const Elements& elements, bool whole_samples) {
  elements_ = &elements;
  stride_ = elements.stride();
  rows_ = graph_.grid.lanes * stride_;
  runner_.BeginBlock(elements, whole_samples);
  if (observer_ != nullptr) observer_->BlockBegins(elements);
  clock_.assign(graph_.grid.stages * rows_, 0);
  if (graph_.is_continuous()) begin_.assign(clock_.size(), 0);
}

bool BlockSimulator::RunOperations(const Elements& elements, bool whole_samples,
                                   const base::Budget& budget) {
  ResetClocks(elements, whole_samples);
  out_of_memory_ = false;
  arrival_.resize(compiled_.plan.slots * rows_);
  hop_seconds_.resize(compiled_.plan.slots * stride_);
  size_t draws = 0;
  for (const PlannedOperation& planned : compiled_.plan.operations) {
    RunPlanned(planned);
    for (const Segment& segment : graph_.programs[planned.program].segments) {
      draws += segment.count * segment.tasks.size() * rows_;
    }
    if (draws > kDrawsBetweenPolls) {
      if (!MayGoOn(budget)) return false;
      draws = 0;
    }
  }
  for (int stage = 0; stage < graph_.grid.stages; ++stage) {
    runner_.Drain(stage, clock(stage));
  }
  return true;
}

bool BlockSimulator::MayGoOn(const base::Budget& budget) {
  out_of_memory_ = runner_.remembered_bytes() > memory_limit_;
  return !out_of_memory_ && !budget.Cancelled() &&
         budget.Remaining() > absl::ZeroDuration();
}

void BlockSimulator::RunPlanned(const PlannedOperation& planned) {
  switch (planned.role) {
    case PlannedOperation::Role::kOperation:
      return RunOperation(planned);
    case PlannedOperation::Role::kUpdate:
      return RunUpdate(planned);
    case PlannedOperation::Role::kFetch:
      return runner_.Run({.program = planned.program,
                          .stage = planned.stage,
                          .stream_operation = planned.id},
                         clock(planned.stage));
  }
}

void BlockSimulator::RunOperation(const PlannedOperation& planned) {
  double* rank_clock = clock(planned.stage);
  if (observer_ != nullptr) {
    observer_->OperationBegins(planned, rank_clock, Arrival(planned.receives));
  }
  if (planned.receives != kAbsent) AwaitArrival(planned, rank_clock);
  const int u = planned.operation.virtual_stage;
  runner_.Run(
      {.program = planned.program,
       .stage = planned.stage,
       .stage_scale = graph_.stage_scale.empty() ? 1 : graph_.stage_scale[u],
       .microbatch = planned.operation.microbatch,
       .stream_operation = planned.id},
      rank_clock);
  if (planned.sends != kAbsent) {
    double* arrival = &arrival_[planned.sends * rows_];
    runner_.Send(planned, rank_clock, arrival);
    if (runner_.tracks_kinds()) {
      double* hop = &hop_seconds_[planned.sends * stride_];
      for (size_t e = 0; e < stride_; ++e) hop[e] = arrival[e] - rank_clock[e];
    }
  }
  if (observer_ != nullptr) {
    observer_->OperationEnds(planned, rank_clock, Arrival(planned.sends));
  }
}

const double* BlockSimulator::Arrival(int slot) const {
  return slot == kAbsent ? nullptr : &arrival_[slot * rows_];
}

void BlockSimulator::AwaitArrival(const PlannedOperation& planned,
                                  double* rank_clock) {
  const double* arrival = &arrival_[planned.receives * rows_];
  if (runner_.tracks_kinds()) {
    BookHop(planned, rank_clock);
  }
  stats::MaxRows(rank_clock, arrival, rows_, rank_clock);
}

// Of the wait, the hop's own time is communication and the rest bubble.
void BlockSimulator::BookHop(const PlannedOperation& planned,
                             const double* rank_clock) {
  const double* arrival = &arrival_[planned.receives * rows_];
  const double* hop = &hop_seconds_[planned.receives * stride_];
  for (size_t row = 0; row < rows_; ++row) {
    KindSeconds& seconds =
        runner_.ledger().At(planned.stage, graph_.hop_kind, row);
    const double wait = arrival[row] - rank_clock[row];
    seconds.busy += hop[row % stride_];
    seconds.spent += std::clamp(wait, 0.0, hop[row % stride_]);
  }
}

// A rank closes a step when all that it has begun is done.
void BlockSimulator::RunUpdate(const PlannedOperation& planned) {
  const int stage = planned.stage;
  runner_.Drain(stage, clock(stage));
  Close(stage, planned.id);
  if (planned.step != graph_.steps() - 2) return;
  std::copy_n(clock(stage), rows_, &begin_[stage * rows_]);
  if (runner_.tracks_kinds()) runner_.ledger().Forget(stage);
}

void BlockSimulator::RunClosing() {
  if (graph_.is_continuous()) return;
  // Operations may have been run elsewhere, part by part.
  if (observer_ != nullptr) observer_->BlockBegins(*elements_);
  for (int stage = 0; stage < graph_.grid.stages; ++stage) {
    Close(stage, compiled_.plan.ids + static_cast<uint32_t>(stage));
  }
}

void BlockSimulator::Close(int stage, uint32_t id) {
  if (observer_ != nullptr) observer_->ClosingBegins(stage, clock(stage));
  runner_.Run({.program = graph_.closing[stage],
               .stage = stage,
               .stream_operation = id},
              clock(stage));
  runner_.Drain(stage, clock(stage));
  if (observer_ != nullptr) observer_->ClosingEnds(stage, clock(stage));
}

}  // namespace prism::step
