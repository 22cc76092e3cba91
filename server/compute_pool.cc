#include "server/compute_pool.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace prism::server {
namespace {

// Weight of the newest task in the mean.
constexpr double kNewest = 0.1;

}  // namespace

ComputePool::ComputePool(int workers, int queue_limit, Clock clock,
                         Metrics& metrics)
    : workers_(workers),
      queue_limit_(queue_limit),
      clock_(std::move(clock)),
      metrics_(metrics) {
  PRISM_CHECK(workers >= 1);
  for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { Work(); });
  for (int i = 1; i < workers; ++i) threads_.emplace_back([this] { Help(); });
}

ComputePool::~ComputePool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  help_.notify_all();
  threads_.clear();
}

std::optional<ComputePool::TaskId> ComputePool::Submit(Task task) {
  std::lock_guard lock(mutex_);
  if (static_cast<int>(queue_.size()) >= queue_limit_) return std::nullopt;
  const TaskId id = next_id_++;
  queue_.push_back({id, std::move(task), clock_()});
  metrics_.queue_depth.Set(static_cast<double>(queue_.size()));
  work_.notify_one();
  return id;
}

bool ComputePool::Withdraw(TaskId id) {
  std::lock_guard lock(mutex_);
  const size_t removed =
      std::erase_if(queue_, [id](const Queued& q) { return q.id == id; });
  metrics_.queue_depth.Set(static_cast<double>(queue_.size()));
  return removed > 0;
}

absl::Duration ComputePool::ExpectedWait() const {
  std::lock_guard lock(mutex_);
  const double rounds = static_cast<double>(queue_.size()) / concurrency();
  return std::clamp(absl::Seconds(rounds * mean_task_seconds_),
                    absl::Milliseconds(50), absl::Seconds(30));
}

void ComputePool::ParallelFor(int count, const std::function<void(int)>& body) {
  Loop loop{body, count};
  std::unique_lock lock(mutex_);
  const auto entry = loops_.insert(loops_.end(), &loop);
  const int helpers = std::min(count, concurrency()) - 1;
  for (int i = 0; i < helpers; ++i) help_.notify_one();
  RunLoop(loop, lock);
  loops_.erase(entry);
  loop_done_.wait(lock, [&loop] { return loop.running == 0; });
}

void ComputePool::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    RunTask(lock);
  }
}

void ComputePool::Help() {
  std::unique_lock lock(mutex_);
  while (true) {
    Loop* loop = nullptr;
    help_.wait(lock, [&] { return (loop = OpenLoop()) || stopping_; });
    if (loop == nullptr) return;
    ++loop->running;
    RunLoop(*loop, lock);
    --loop->running;
    loop_done_.notify_all();
  }
}

void ComputePool::RunTask(std::unique_lock<std::mutex>& lock) {
  Queued queued = std::move(queue_.front());
  queue_.pop_front();
  metrics_.queue_depth.Set(static_cast<double>(queue_.size()));
  lock.unlock();
  const absl::Time start = clock_();
  metrics_.queue_wait_seconds.Observe(
      absl::ToDoubleSeconds(start - queued.since));
  queued.task();
  queued.task = nullptr;  // frees what it holds before the lock
  const double seconds = absl::ToDoubleSeconds(clock_() - start);
  lock.lock();
  mean_task_seconds_ += kNewest * (seconds - mean_task_seconds_);
}

void ComputePool::RunLoop(Loop& loop, std::unique_lock<std::mutex>& lock) {
  while (loop.next < loop.count) {
    const int i = loop.next++;
    lock.unlock();
    loop.body(i);
    lock.lock();
  }
}

ComputePool::Loop* ComputePool::OpenLoop() {
  for (Loop* loop : loops_) {
    if (loop->next < loop->count) return loop;
  }
  return nullptr;
}

}  // namespace prism::server
