// Signals that end the process, handled by threads that wait for them: no
// code of ours runs in a signal handler.
#ifndef PRISM_SERVER_LIFECYCLE_H_
#define PRISM_SERVER_LIFECYCLE_H_

#include <thread>

namespace prism::server {

// Blocks SIGTERM and SIGINT in this thread and all it starts. Call it before
// any other thread exists. Also ignores SIGPIPE.
void BlockStopSignals();

// Waits for SIGTERM or SIGINT; returns which.
// Requires: BlockStopSignals() was called.
int AwaitStopSignal();

// While it lives, another stop signal ends the process at once, with exit
// status 128 + signal: for operators who have waited long enough.
class SecondSignalEnds {
 public:
  SecondSignalEnds();

 private:
  std::jthread thread_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_LIFECYCLE_H_
