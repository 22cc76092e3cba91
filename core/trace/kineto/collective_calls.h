// The same collective call in the traces of several ranks.
//
// A collective ends on all its ranks when the last of them has come and the
// data has moved, so what lies before the latest start is waiting and what lies
// behind it transfer.
#ifndef PRISM_CORE_TRACE_KINETO_COLLECTIVE_CALLS_H_
#define PRISM_CORE_TRACE_KINETO_COLLECTIVE_CALLS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/kineto/kernel_trace.h"

namespace prism::kineto {

// Calls of one kind in one group, of all ranks read.
struct CollectiveUse {
  std::string kind;
  // As the trace names it, or "stream 40" where it names none.
  std::string group;
  int64_t group_size = 0;     // 0: unknown
  int64_t ranks = 0;          // of those read that take part
  int64_t calls = 0;          // on all ranks together
  int64_t bytes = -1;         // of all calls together; -1: not known of any
  int64_t unknown_bytes = 0;  // calls whose bytes are not known
  int64_t total_ns = 0;       // of all calls together
  // Calls found on every rank that takes part, counted once a rank, and their
  // time. No call is matched where one rank was read.
  int64_t matched = 0;
  int64_t waiting_ns = 0;
  int64_t transfer_ns = 0;
};

struct CollectiveCalls {
  std::vector<CollectiveUse> uses;  // the longest total first
  // By trace, how far its clock was found ahead of the first one's, which the
  // ends of matched calls show. 0 where nothing shows it.
  std::vector<int64_t> clock_ahead_ns;
};

// Calls of a group are matched by order where every rank has as many and nine
// in ten of the calls then overlap, on the clocks as they are or shifted so
// that the ends agree. Otherwise, as where a trace is sampled or cut, calls
// match that overlap on the clocks as they are.
CollectiveCalls MatchCollectives(const std::vector<KernelTrace>& traces);

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_COLLECTIVE_CALLS_H_
