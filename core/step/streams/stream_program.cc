#include "core/step/streams/stream_program.h"

#include <utility>

namespace prism::step {
namespace {

constexpr int64_t kOperationStart = -1;

// Counts through the runs of all segments.
class RunCursor {
 public:
  explicit RunCursor(const std::vector<SegmentTasks>& segments)
      : segments_(segments) {}

  bool at_end() const { return segment_ == segments_.size(); }
  const SegmentTasks& operator*() const { return segments_[segment_]; }

  void Next() {
    if (++run_ < segments_[segment_].count) return;
    run_ = 0;
    ++segment_;
  }

  void SkipToGather() {
    while (!at_end() && !segments_[segment_].gather) ++segment_;
  }

 private:
  const std::vector<SegmentTasks>& segments_;
  size_t segment_ = 0;
  int64_t run_ = 0;
};

class Unroller {
 public:
  Unroller(const std::vector<SegmentTasks>& segments, int64_t prefetch)
      : prefetch_(prefetch), run_(segments), to_gather_(segments) {
    to_gather_.SkipToGather();
  }

  Program Unroll() {
    IssueGathers(prefetch_);
    for (; !run_.at_end(); run_.Next()) {
      AddRun(*run_);
      EndRun();
    }
    return std::move(program_);
  }

 private:
  // Adds a task that waits for those of the given indices.
  int64_t Add(Task task, const std::vector<int64_t>& awaited) {
    task.after.clear();
    for (int64_t index : awaited) {
      task.after.push_back(static_cast<int>(next_ - index));
    }
    tasks_.push_back(std::move(task));
    return next_++;
  }

  void IssueGathers(int64_t gathers) {
    for (; gathers_.size() < static_cast<size_t>(gathers); to_gather_.Next()) {
      to_gather_.SkipToGather();
      if (to_gather_.at_end()) return;
      Task gather = *(*to_gather_).gather;
      gather.stream = kDataStream;
      gathers_.push_back(Add(std::move(gather), end_));
    }
  }

  void AddRun(const SegmentTasks& run) {
    std::vector<int64_t> awaited = end_;
    if (run.gather) {
      IssueGathers(static_cast<int64_t>(gathered_) + 1 + prefetch_);
      awaited.push_back(gathers_[gathered_++]);
    }
    int64_t last = Add(run.compute, awaited);
    end_ = {last};
    if (run.collective) {
      last = Add(*run.collective, {last});
      if (!run.overlaps) end_ = {last};
    }
    if (beside_) end_.push_back(*beside_);
    beside_.reset();
    if (run.collective && run.overlaps) beside_ = last;
    AddScatter(run);
  }

  void AddScatter(const SegmentTasks& run) {
    if (!run.scatter) return;
    Task scatter = *run.scatter;
    scatter.stream = kDataStream;
    scatter.detached = true;
    const int64_t scattered = Add(std::move(scatter), end_);
    if (!run.reduce) return;
    Task reduce = *run.reduce;
    reduce.stream = kCopiesStream;
    reduce.detached = true;
    Add(std::move(reduce), {scattered});
  }

  void EndRun() {
    auto& segments = program_.segments;
    if (!segments.empty() && segments.back().tasks == tasks_) {
      ++segments.back().count;
    } else {
      segments.push_back({"", tasks_, 1});
    }
    tasks_.clear();
  }

  const int64_t prefetch_;
  RunCursor run_;
  RunCursor to_gather_;  // the next gather to issue
  Program program_;
  std::vector<Task> tasks_;  // of the run under way
  // Places of tasks in the unrolled order:
  int64_t next_ = 0;
  std::vector<int64_t> end_ = {kOperationStart};  // the end of the run before
  std::optional<int64_t> beside_;  // the collective that overlaps this run
  std::vector<int64_t> gathers_;
  size_t gathered_ = 0;  // gathers that a run has waited for
};

}  // namespace

Program UnrollRuns(const std::vector<SegmentTasks>& segments,
                   int64_t prefetch) {
  return Unroller(segments, prefetch).Unroll();
}

}  // namespace prism::step
