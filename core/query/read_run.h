// Runs of a message as checked values.
#ifndef PRISM_CORE_QUERY_READ_RUN_H_
#define PRISM_CORE_QUERY_READ_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/completion/run_plan.h"
#include "core/hardware/cluster.h"
#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "prism/v1/completion_service.pb.h"

namespace prism::query {

// Failures per day of a node of which nothing else is said: observed on 400
// nodes over 348 days (stepfun-ai/InfiniteHBD-Trace).
inline constexpr double kUsualFailuresPerNodeDay = 0.0043;

// What a run takes from where it runs.
struct RunPlace {
  // Nodes that the job takes.
  int64_t nodes = 1;
  hardware::Reliability reliability;
  // Failures per day of each of the job's nodes; empty: all as `reliability`
  // says.
  std::vector<double> failures_per_day;
};

// Everything but `step` and the deadlines; its autocorrelation and factors are
// read. Valid if no check failed.
completion::RunPlan ReadRun(const prism::v1::Run& message,
                            const RunPlace& place, const FieldPath& path,
                            Checker& checker);

// What ReadRun assumed of `message`, in words: nothing is assumed of a run that
// cannot fail.
std::vector<std::string> Assumptions(const prism::v1::Run& message,
                                     const hardware::Reliability& cluster);

// Requires: `steps` is what the run has.
completion::Progress ReadProgress(const prism::v1::Progress& message,
                                  int64_t steps, const FieldPath& path,
                                  Checker& checker);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_READ_RUN_H_
