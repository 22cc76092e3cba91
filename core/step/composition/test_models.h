// Pipelines for the tests of this folder.
#ifndef PRISM_CORE_STEP_COMPOSITION_TEST_MODELS_H_
#define PRISM_CORE_STEP_COMPOSITION_TEST_MODELS_H_

#include <memory>
#include <vector>

#include "core/step/compiled_graph.h"
#include "core/step/composition/pipeline_model.h"
#include "core/step/step_profile.h"

namespace prism::step {

// A profile's pipeline with all it refers to.
struct ModelOf {
  StepGraph graph;
  CompiledGraph compiled;
  PipelineModel model;
};

// A profile that cannot be reduced is a failed expectation, and null.
std::unique_ptr<ModelOf> BuildModel(const StepProfile& profile);

// One stage that runs one micro-batch: a forward of `milliseconds` and a
// backward of no time.
StepProfile OneOperation(stats::Distribution milliseconds);

// Element i of a draw at score[i]. Requires: a multiple of kPipelineRow.
std::vector<float> ValuesOf(const ScoreDraw& draw,
                            const std::vector<float>& score);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_TEST_MODELS_H_
