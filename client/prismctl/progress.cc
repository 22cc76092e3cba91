#include "client/prismctl/progress.h"

#include <chrono>
#include <utility>

namespace prism::prismctl {
namespace {

using std::chrono::steady_clock;

constexpr char kWipeLine[] = "\r\x1b[K";

}  // namespace

Progress::Progress(std::ostream& err, bool is_terminal, std::string what,
                   std::chrono::milliseconds interval)
    : err_(err), what_(std::move(what)), interval_(interval) {
  if (is_terminal) {
    thread_ = std::jthread([this](std::stop_token stop) { Show(stop); });
  }
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void Progress::Show(std::stop_token stop) {
  const auto start = steady_clock::now();
  const auto stopped = [&] { return stop.stop_requested(); };
  bool shown = false;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!wake_.wait_for(lock, stop, interval_, stopped)) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
        steady_clock::now() - start);
    err_ << kWipeLine << what_ << ", " << seconds.count() << " s" << std::flush;
    shown = true;
  }
  if (shown) err_ << kWipeLine << std::flush;
}

}  // namespace prism::prismctl
