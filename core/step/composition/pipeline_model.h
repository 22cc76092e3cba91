// PipelineModel: the operations of one replica as the structured method runs
// them: a law for each, and the nominal schedule that deviations are from.
#ifndef PRISM_CORE_STEP_COMPOSITION_PIPELINE_MODEL_H_
#define PRISM_CORE_STEP_COMPOSITION_PIPELINE_MODEL_H_

#include <memory>
#include <optional>
#include <vector>

#include "core/step/compiled_graph.h"
#include "core/step/composition/operation_law.h"

namespace prism::step {

struct PipelineOperation {
  int stage = 0;
  int microbatch = 0;
  int virtual_stage = 0;
  int law = 0;   // index into PipelineModel::laws
  int site = 0;  // index into PipelineModel::sites
  int receives = kAbsent;
  int sends = kAbsent;
  int hop = kAbsent;  // index into PipelineModel::hops
  // Nominal clock and nominal arrival less the nominal start: at most 0.
  float own_offset = 0;
  float arrival_offset = 0;
};

// Where the operations of one law run.
struct OperationSite {
  int law = 0;  // index into PipelineModel::laws
  int stage = 0;
};

struct HopLaw {
  double mean = 0;
  bool is_constant = true;
  ScoreDraw draw;
};

// Immutable and thread-safe.
struct PipelineModel {
  int stages = 1;
  int slots = 0;
  int microbatches = 1;
  std::vector<OperationLaw> laws;
  std::vector<OperationSite> sites;
  std::vector<HopLaw> hops;
  std::vector<PipelineOperation> operations;
  // Nominal end of the last operation, by stage, in seconds.
  std::vector<double> nominal_end;
  // Most that a replica is too long because of the laws' lane slack, in
  // seconds.
  double lane_slack = 0;
  // Factor of a micro-batch's load on compute, less its mean; nothing where
  // there is none.
  std::optional<ScoreDraw> load;
  // Expected number of rare stalls in one replica.
  double expected_stalls = 0;

  // Where stages end so close together that any may be the last, the end of
  // `latest` stands for the latest of them all: by stage, the nominal end and
  // what follows it, less those of `latest`. Else empty.
  std::vector<float> behind_latest;
  int latest = 0;

  // Makes the end of `stage` stand for all, each with `closing_mean` seconds
  // behind it.
  void JoinEnds(int stage, const std::vector<double>& closing_mean);
  // Draws that simulating one replica takes.
  int64_t draws() const;
};

struct PipelineSetting {
  // Network times over compute times, relative to the graph's own draws.
  double network_factor = 1;
};

// The model of `compiled` with step-scoped shared factors left out, or nothing
// where an operation cannot be reduced.
std::optional<PipelineModel> BuildPipelineModel(const CompiledGraph& compiled,
                                                const PipelineSetting& setting,
                                                LawTable& cache);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_PIPELINE_MODEL_H_
