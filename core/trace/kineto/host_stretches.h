// HostStretches: on which host thread and when something went on, to be asked
// for an instant.
//
// Add all, Close once, then ask. Not thread-safe until closed.
#ifndef PRISM_CORE_TRACE_KINETO_HOST_STRETCHES_H_
#define PRISM_CORE_TRACE_KINETO_HOST_STRETCHES_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace prism::kineto {

class HostStretches {
 public:
  // `value` is what Find gives back, at least 0. Requires: start <= end.
  void Add(int32_t thread, int64_t start_ns, int64_t end_ns, int32_t value);
  void Close();

  // The value of the stretch of `thread` that began last before or at `at` and
  // holds it; -1: none. Where stretches of a thread lie in each other the
  // innermost is found unless it is over, and then the outermost.
  int32_t Find(int32_t thread, int64_t at_ns) const;

 private:
  struct Stretch {
    int64_t start_ns, end_ns;
    int32_t value;
  };
  struct Thread {
    std::vector<Stretch> all;    // by start
    std::vector<Stretch> outer;  // those that lie in no other, by start
  };

  std::unordered_map<int32_t, Thread> threads_;
};

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_HOST_STRETCHES_H_
