// One job for every schedule, for tests.
#ifndef PRISM_CORE_ESTIMATE_TESTING_PIPELINED_JOB_H_
#define PRISM_CORE_ESTIMATE_TESTING_PIPELINED_JOB_H_

#include <cstdint>

#include "core/hardware/cluster.h"
#include "core/workload/job.h"
#include "core/workload/stages.h"
#include "core/workload/testing/jobs.h"

namespace prism::estimate::testing {

inline hardware::Cluster DgxA100(int64_t nodes) {
  hardware::Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  cluster.nodes = nodes;
  return cluster;
}

// A GPT on four stages of eight GPUs, with as many chunks as the schedule has.
inline workload::Job Pipelined(workload::Schedule schedule,
                               int64_t microbatches = 16) {
  using workload::Schedule;
  workload::Job job;
  job.model = workload::testing::Gpt(48, 4096, 32);
  job.parallelism.tensor = 8;
  job.parallelism.pipeline = 4;
  job.parallelism.schedule = schedule;
  if (schedule == Schedule::kInterleaved) job.parallelism.virtual_stages = 3;
  if (schedule == Schedule::kBreadthFirst) job.parallelism.virtual_stages = 3;
  if (FoldsPipeline(job.parallelism)) job.parallelism.virtual_stages = 2;
  job.training.sequence = 2048;
  job.training.global_batch = microbatches;
  return job;
}

}  // namespace prism::estimate::testing

#endif  // PRISM_CORE_ESTIMATE_TESTING_PIPELINED_JOB_H_
