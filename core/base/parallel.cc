#include "core/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/base/check.h"

namespace prism::base {

void InlineExecutor::ParallelFor(int count,
                                 const std::function<void(int)>& body) {
  for (int i = 0; i < count; ++i) body(i);
}

ThreadExecutor::ThreadExecutor(int threads) : threads_(threads) {
  PRISM_CHECK(threads >= 1);
}

void ThreadExecutor::ParallelFor(int count,
                                 const std::function<void(int)>& body) {
  std::atomic<int> next{0};
  auto work = [&] {
    for (int i = next.fetch_add(1); i < count; i = next.fetch_add(1)) body(i);
  };
  std::vector<std::jthread> helpers;
  const int extra = std::min(threads_, count) - 1;
  for (int i = 0; i < extra; ++i) helpers.emplace_back(work);
  work();
}

}  // namespace prism::base
