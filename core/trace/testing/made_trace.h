// Steps of made-up jobs, timed by formulas of their own.
//
// Every operation of a 1F1B or interleaved schedule, with sends and receives
// as frameworks record them: a receive is posted when the compute before the
// one it serves has ended, a transfer begins when both ends are there, and at
// the ends of the model they are recorded although nothing is sent. Times are
// relaxed until nothing changes, which knows nothing of how traces are run
// again. No host ever delays anything.
#ifndef PRISM_CORE_TRACE_TESTING_MADE_TRACE_H_
#define PRISM_CORE_TRACE_TESTING_MADE_TRACE_H_

#include <functional>
#include <string>

#include "core/trace/trace.h"

namespace prism::trace {

struct MadeJob {
  Sizes sizes{.data = 2, .pipeline = 4};
  // Of a step; with chunks a multiple of the stages.
  int microbatches = 8;
  double transfer_seconds = 0.001;
  double closing_seconds = 0.05;  // of each operation after the computes
  // Seconds of a compute, by replica, stage, kind and micro-batch.
  std::function<double(const Operation&)> compute_seconds =
      [](const Operation& operation) {
        return operation.kind == OperationKind::kForwardCompute ? 0.1 : 0.2;
      };
};

// In order.
Step MakeStep(const MadeJob& job, int64_t number = 0);

// As rows of an operator trace, without the heading.
std::string CsvRows(const Step& step);

// The heading of such rows.
std::string CsvHeading();

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_TESTING_MADE_TRACE_H_
