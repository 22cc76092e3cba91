// Executor: where the core's parallel loops run.
//
// The core starts no threads of its own. A caller that has cores to spare
// passes a ThreadExecutor (or, in the server, one that borrows idle workers of
// the compute pool); results never depend on which.
#ifndef PRISM_CORE_BASE_PARALLEL_H_
#define PRISM_CORE_BASE_PARALLEL_H_

#include <functional>

namespace prism::base {

class Executor {
 public:
  virtual ~Executor() = default;

  // Most calls that run at the same time, at least 1.
  virtual int concurrency() const = 0;

  // Calls `body(i)` once for every i in [0, count), in any order and possibly
  // concurrently; returns when all have returned. `body` must not throw.
  virtual void ParallelFor(int count, const std::function<void(int)>& body) = 0;
};

// Runs everything on the calling thread.
class InlineExecutor final : public Executor {
 public:
  int concurrency() const override { return 1; }
  void ParallelFor(int count, const std::function<void(int)>& body) override;
};

// Runs loops on the calling thread and `threads - 1` helpers, which live for
// the length of one ParallelFor.
class ThreadExecutor final : public Executor {
 public:
  // Requires: threads >= 1.
  explicit ThreadExecutor(int threads);

  int concurrency() const override { return threads_; }
  void ParallelFor(int count, const std::function<void(int)>& body) override;

 private:
  int threads_;
};

}  // namespace prism::base

#endif  // PRISM_CORE_BASE_PARALLEL_H_
