#include "server/lifecycle.h"

#include <unistd.h>

#include <csignal>
#include <ctime>
#include <stop_token>

namespace prism::server {
namespace {

constexpr timespec kPoll = {.tv_sec = 0, .tv_nsec = 50000000};

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

void BlockStopSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int AwaitStopSignal() {
  const sigset_t signals = StopSignals();
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  return signal;
}

SecondSignalEnds::SecondSignalEnds()
    : thread_([](std::stop_token stop) {
        const sigset_t signals = StopSignals();
        while (!stop.stop_requested()) {
          const int signal = sigtimedwait(&signals, nullptr, &kPoll);
          if (signal > 0) _exit(128 + signal);
        }
      }) {}

}  // namespace prism::server
