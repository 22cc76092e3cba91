#include "server/compute_pool.h"

#include <absl/time/clock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <set>
#include <thread>

namespace prism::server {
namespace {

class ComputePoolTest : public testing::Test {
 protected:
  void MakePool(int workers, int queue_limit) {
    pool_ = std::make_unique<ComputePool>(
        workers, queue_limit, [] { return absl::Now(); }, metrics_);
  }

  // Occupies one worker until `release_` is set.
  void BlockOneWorker() {
    std::promise<void> started;
    pool_->Submit([this, &started] {
      started.set_value();
      released_.wait();
    });
    started.get_future().wait();
  }

  Metrics metrics_{"test"};
  std::promise<void> release_;
  std::shared_future<void> released_ = release_.get_future().share();
  std::unique_ptr<ComputePool> pool_;
};

TEST_F(ComputePoolTest, RunsWhatIsSubmittedOnAnotherThread) {
  MakePool(1, 10);
  std::promise<std::thread::id> ran;
  ASSERT_TRUE(
      pool_->Submit([&] { ran.set_value(std::this_thread::get_id()); }));
  EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
}

TEST_F(ComputePoolTest, RefusesWhatDoesNotFitTheQueue) {
  MakePool(1, 2);
  BlockOneWorker();
  EXPECT_TRUE(pool_->Submit([] {}));
  EXPECT_TRUE(pool_->Submit([] {}));
  EXPECT_FALSE(pool_->Submit([] {}));
  release_.set_value();
}

TEST_F(ComputePoolTest, WithdrawnTaskNeverRunsAndFreesItsPlace) {
  MakePool(1, 1);
  BlockOneWorker();
  std::atomic<bool> ran = false;
  const auto id = pool_->Submit([&] { ran = true; });
  ASSERT_TRUE(id);
  EXPECT_TRUE(pool_->Withdraw(*id));
  EXPECT_TRUE(pool_->Submit([] {}));
  release_.set_value();
  pool_.reset();
  EXPECT_FALSE(ran);
}

TEST_F(ComputePoolTest, StartedTaskCannotBeWithdrawn) {
  MakePool(1, 1);
  std::promise<void> started;
  const auto id = pool_->Submit([&] {
    started.set_value();
    released_.wait();
  });
  started.get_future().wait();
  EXPECT_FALSE(pool_->Withdraw(*id));
  release_.set_value();
}

TEST_F(ComputePoolTest, EndRunsWhatIsQueued) {
  MakePool(1, 10);
  BlockOneWorker();
  std::atomic<int> ran = 0;
  for (int i = 0; i < 5; ++i) pool_->Submit([&] { ++ran; });
  release_.set_value();
  pool_.reset();
  EXPECT_EQ(ran, 5);
}

TEST_F(ComputePoolTest, QueueDepthIsExported) {
  MakePool(1, 10);
  BlockOneWorker();
  pool_->Submit([] {});
  pool_->Submit([] {});
  EXPECT_EQ(metrics_.queue_depth.Value(), 2);
  release_.set_value();
}

TEST_F(ComputePoolTest, ExpectedWaitGrowsWithTheQueue) {
  MakePool(1, 100);
  BlockOneWorker();
  const absl::Duration before = pool_->ExpectedWait();
  for (int i = 0; i < 50; ++i) pool_->Submit([] {});
  EXPECT_GT(pool_->ExpectedWait(), before);
  release_.set_value();
}

TEST_F(ComputePoolTest, LoopRunsEveryIterationOnce) {
  MakePool(3, 10);
  std::vector<std::atomic<int>> runs(1000);
  pool_->ParallelFor(1000, [&](int i) { ++runs[i]; });
  for (const auto& count : runs) EXPECT_EQ(count, 1);
}

TEST_F(ComputePoolTest, LoopHasHelpers) {
  MakePool(2, 10);
  // Ends only if two threads are in the loop at the same time.
  std::atomic<int> inside = 0;
  pool_->ParallelFor(2, [&](int) {
    ++inside;
    while (inside < 2) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 2);
}

TEST_F(ComputePoolTest, LoopNeedsNoWorker) {
  MakePool(1, 10);
  BlockOneWorker();
  std::atomic<int> ran = 0;
  pool_->ParallelFor(100, [&](int) { ++ran; });
  EXPECT_EQ(ran, 100);
  release_.set_value();
}

TEST_F(ComputePoolTest, LongLoopLeavesTheOtherWorkersFree) {
  MakePool(2, 10);
  std::atomic<int> inside = 0;
  pool_->Submit([&] {
    pool_->ParallelFor(2, [&](int) {
      ++inside;
      released_.wait();
    });
  });
  while (inside < 2) std::this_thread::yield();
  std::promise<void> ran;
  pool_->Submit([&] { ran.set_value(); });
  ran.get_future().wait();
  release_.set_value();
}

TEST_F(ComputePoolTest, LoopsInsideTasksEnd) {
  MakePool(2, 100);
  ComputePool* pool = pool_.get();  // pool_ is null while the pool ends
  std::atomic<int> ran = 0;
  for (int t = 0; t < 20; ++t) {
    pool->Submit([&, pool] { pool->ParallelFor(50, [&](int) { ++ran; }); });
  }
  pool_.reset();
  EXPECT_EQ(ran, 1000);
}

}  // namespace
}  // namespace prism::server
