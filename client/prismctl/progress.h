// Progress: tells a waiting person on a terminal that work goes on.
#ifndef PRISM_CLIENT_PRISMCTL_PROGRESS_H_
#define PRISM_CLIENT_PRISMCTL_PROGRESS_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>

namespace prism::prismctl {

// While it lives, shows `what` and the seconds gone on the current line of
// `err`, anew after each `interval`, and wipes the line at the end. Shows
// nothing within the first interval, or without a terminal. Nobody else may
// write to `err` meanwhile.
class Progress {
 public:
  Progress(std::ostream& err, bool is_terminal, std::string what,
           std::chrono::milliseconds interval = std::chrono::seconds(1));
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void Show(std::stop_token stop);

  std::ostream& err_;
  std::string what_;
  std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_PROGRESS_H_
