// NodeGraph: the operators of an execution trace and what waits for what.
#ifndef PRISM_CORE_TRACE_CHAKRA_NODE_GRAPH_H_
#define PRISM_CORE_TRACE_CHAKRA_NODE_GRAPH_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace prism::chakra {

struct TimedNode {
  uint64_t id = 0;
  int64_t start_ns = 0;     // where it was recorded; else as found
  int64_t duration_ns = 0;  // 0 to 2^62
  int32_t lane = 0;  // a host thread or a stream: runs one node at a time
  std::vector<uint64_t> waits_for;
};

struct ScheduleProblems {
  int64_t unknown = 0;  // dependencies on nodes that are not there
  int64_t circular =
      0;  // nodes that wait for each other, and who waits for them
};

// Sets the start of each node to the earliest at which what it waits for has
// ended and its lane is free. Lanes run their nodes in the order in which they
// can start, of several the one with the lowest id. Dependencies on nodes that
// are not there hold nobody up; nodes in a circle start as if they waited for
// nothing.
ScheduleProblems Schedule(std::vector<TimedNode>& nodes);

}  // namespace prism::chakra

#endif  // PRISM_CORE_TRACE_CHAKRA_NODE_GRAPH_H_
