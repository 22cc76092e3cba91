// ComputePool: the fixed threads that simulate, and the queue before them.
//
// RPC threads never simulate; they submit tasks here. The queue is bounded: a
// task that does not fit is refused at once, which is better for its caller
// than a wait that ends in a timeout.
//
// Workers run tasks and nothing else. As many helpers, less one, run what the
// parallel loops of the tasks have to share. A loop may hold its helpers for
// seconds; if it held workers, one question could keep all others waiting.
#ifndef PRISM_SERVER_COMPUTE_POOL_H_
#define PRISM_SERVER_COMPUTE_POOL_H_

#include <absl/time/time.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/parallel.h"
#include "server/clock.h"
#include "server/metrics.h"

namespace prism::server {

// Thread-safe, also as an Executor: concurrent loops share the helpers.
// A loop always makes progress on the thread that called it.
class ComputePool final : public base::Executor {
 public:
  // Must not throw.
  using Task = std::function<void()>;
  using TaskId = uint64_t;

  // Requires: workers >= 1; `metrics` outlives the pool.
  ComputePool(int workers, int queue_limit, Clock clock, Metrics& metrics);
  // Runs what is still queued, then joins the threads.
  ~ComputePool() override;

  ComputePool(const ComputePool&) = delete;
  ComputePool& operator=(const ComputePool&) = delete;

  // Queues `task`, to run once on a worker. Nothing if the queue is full.
  std::optional<TaskId> Submit(Task task);

  // Takes a task out of the queue. False if it has started or ended.
  bool Withdraw(TaskId id);

  // How long a new task would wait, from the tasks of late; at least 50 ms
  // and at most 30 s.
  absl::Duration ExpectedWait() const;

  int concurrency() const override { return workers_; }
  void ParallelFor(int count, const std::function<void(int)>& body) override;

 private:
  struct Queued {
    TaskId id;
    Task task;
    absl::Time since;
  };
  // One ParallelFor under way; lives on its caller's stack. All guarded by
  // mutex_, bodies run without it.
  struct Loop {
    const std::function<void(int)>& body;
    int count;
    int next = 0;
    int running = 0;  // calls of body on helpers
  };

  void Work();
  void Help();
  void RunTask(std::unique_lock<std::mutex>& lock);
  // Runs iterations of `loop` until none is left to start.
  void RunLoop(Loop& loop, std::unique_lock<std::mutex>& lock);
  Loop* OpenLoop();

  const int workers_;
  const int queue_limit_;
  const Clock clock_;
  Metrics& metrics_;

  mutable std::mutex mutex_;
  std::condition_variable work_;       // a task, or the end
  std::condition_variable help_;       // an open loop, or the end
  std::condition_variable loop_done_;  // a helper left a loop
  std::deque<Queued> queue_;
  std::list<Loop*> loops_;
  TaskId next_id_ = 1;
  bool stopping_ = false;
  double mean_task_seconds_ = 0.1;  // exponentially weighted

  std::vector<std::jthread> threads_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_COMPUTE_POOL_H_
