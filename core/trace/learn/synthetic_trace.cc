#include "core/trace/learn/synthetic_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "core/trace/replay/recorded_step.h"
#include "core/trace/step_order.h"

namespace prism::trace {
namespace {

using Kind = OperationKind;

class Maker {
 public:
  Maker(const SyntheticJob& job, uint64_t seed) : job_(job), random_(seed) {}

  Trace Make() {
    Trace trace;
    trace.sizes.data = job_.replicas;
    trace.sizes.pipeline = job_.stages;
    for (int s = 0; s < job_.steps; ++s) trace.steps.push_back(MakeStep(s));
    return trace;
  }

 private:
  double Factor(double sd) {
    return std::exp(sd * std::normal_distribution<double>()(random_));
  }

  Operation At(Kind kind, int replica, int stage, int sequence) const {
    Operation operation;
    operation.kind = kind;
    operation.replica = replica;
    operation.stage = stage;
    operation.rank = replica * job_.stages + stage;
    operation.sequence = sequence;
    return operation;
  }

  // Operations in the order each stream runs them in, starts a rising count
  // that keeps the order, durations their work.
  Step MakeStep(int number) {
    Step step;
    step.number = number;
    const double of_step = Factor(job_.step_sd);
    const double gather = 0.05 * Factor(0.05), scatter = 0.1 * Factor(0.05);
    const double clip = 0.01 * Factor(0.1);
    for (int d = 0; d < job_.replicas; ++d) {
      std::vector<double> loads;
      for (int i = 0; i < job_.microbatches; ++i)
        loads.push_back(Factor(job_.load_sd));
      const double embedding = 0.02 * Factor(0.1);
      for (int p = 0; p < job_.stages; ++p) {
        clock_ = 0;
        const auto once = [&](Kind kind, double seconds) {
          Add(step, At(kind, d, p, 0), seconds);
        };
        once(Kind::kParamsAllGather, gather);
        AddComputes(step, d, p, of_step, loads);
        once(Kind::kLayernormGradsAllReduce, 0.001 * Factor(0.1));
        if (p == 0 || p == job_.stages - 1)
          once(Kind::kEmbeddingGradsAllReduce, embedding);
        once(Kind::kGradsReduceScatter, scatter);
        once(Kind::kOptimizerClip, clip);
        once(Kind::kOptimizer, 0.03 * Factor(0.01));
      }
    }
    PutInOrder(step);
    return step;
  }

  void Add(Step& step, Operation operation, double seconds) {
    operation.start_seconds = clock_++;
    operation.duration_seconds = seconds;
    step.operations.push_back(operation);
  }

  void AddCompute(Step& step, bool forward, int d, int p, int i,
                  double factor) {
    const bool receives = forward ? p > 0 : p + 1 < job_.stages;
    const bool sends = forward ? p + 1 < job_.stages : p > 0;
    if (receives) {
      Add(step,
          At(forward ? Kind::kForwardReceive : Kind::kBackwardReceive, d, p, i),
          0.001 * Factor(0.1));
    }
    Operation compute =
        At(forward ? Kind::kForwardCompute : Kind::kBackwardCompute, d, p, i);
    compute.microbatch = i;
    const bool slow = d == job_.slow_replica && p == job_.slow_stage;
    Add(step, compute,
        (forward ? 0.2 : 0.4) * (1 + 0.1 * p) * factor *
            (slow ? job_.slow_factor : 1) * Factor(job_.noise_sd));
    if (sends) {
      Add(step, At(forward ? Kind::kForwardSend : Kind::kBackwardSend, d, p, i),
          0.001 * Factor(0.1));
    }
  }

  void AddComputes(Step& step, int d, int p, double of_step,
                   const std::vector<double>& loads) {
    const int m = job_.microbatches;
    const int ahead = std::min(job_.stages - p - 1, m);
    for (int i = 0; i < m + ahead; ++i) {
      if (i < m) {
        AddCompute(step, true, d, p, i,
                   of_step * loads[static_cast<size_t>(i)]);
      }
      if (i >= ahead) {
        AddCompute(step, false, d, p, i - ahead,
                   of_step * loads[static_cast<size_t>(i - ahead)]);
      }
    }
  }

  const SyntheticJob job_;
  std::mt19937_64 random_;
  double clock_ = 0;
};

// Starts and durations as a recorder would see them: the latest of a group
// starts its transfer, the others wait.
void Record(Step& step, const Sizes& sizes) {
  const Dependencies dependencies = FindDependencies(step, sizes);
  const auto program = StepProgram::Compile(dependencies);
  ASSERT_TRUE(program.ok()) << program.status();
  std::vector<double> work, ends(step.operations.size()),
      starts(step.operations.size(), 0);
  for (const Operation& operation : step.operations)
    work.push_back(operation.duration_seconds);
  program->Run(work, ends);
  for (const auto& [before, after] : dependencies.edges) {
    double& start = starts[static_cast<size_t>(after)];
    start = std::max(start, ends[static_cast<size_t>(before)]);
  }
  for (size_t o = 0; o < starts.size(); ++o) {
    step.operations[o].start_seconds = starts[o];
    step.operations[o].duration_seconds = ends[o] - starts[o];
  }
}

}  // namespace

Trace MakeTrace(const SyntheticJob& job, uint64_t seed) {
  Trace trace = Maker(job, seed).Make();
  for (Step& step : trace.steps) Record(step, trace.sizes);
  return trace;
}

Observations Observe(const Trace& trace) {
  ObservationGatherer gatherer(trace.sizes);
  for (const Step& step : trace.steps) {
    auto recorded = RecordedStep::From(step, trace.sizes);
    EXPECT_TRUE(recorded.ok()) << recorded.status();
    EXPECT_TRUE(gatherer.Add(*recorded));
  }
  auto observed = std::move(gatherer).Finish();
  EXPECT_TRUE(observed.ok()) << observed.status();
  return *std::move(observed);
}

Observations Select(const Observations& observed,
                    const std::vector<size_t>& which) {
  Observations selected = observed;
  selected.steps.clear();
  for (const size_t step : which)
    selected.steps.push_back(observed.steps[step]);
  return selected;
}

}  // namespace prism::trace
