#include "core/step/composition/test_models.h"

#include <gtest/gtest.h>

#include <utility>

#include "core/step/test_support.h"

namespace prism::step {

std::unique_ptr<ModelOf> BuildModel(const StepProfile& profile) {
  auto of = std::make_unique<ModelOf>();
  of->graph = BuildGraph(profile);
  auto compiled = Compile(of->graph);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return nullptr;
  of->compiled = *std::move(compiled);
  LawTable laws(of->graph);
  auto model = BuildPipelineModel(of->compiled, {}, laws);
  EXPECT_TRUE(model.has_value());
  if (!model.has_value()) return nullptr;
  of->model = *std::move(model);
  return of;
}

StepProfile OneOperation(stats::Distribution milliseconds) {
  StepProfile profile = ConstantProfile(ScheduleKind::kGpipe, 1, 1, 1, 0, 0);
  profile.forward[0].compute = std::move(milliseconds);
  return profile;
}

std::vector<float> ValuesOf(const ScoreDraw& draw,
                            const std::vector<float>& score) {
  std::vector<float> values(score.size());
  if (draw.is_polynomial) {
    PolynomialRow(score.data(), score.size(), draw.polynomial, values.data());
  } else {
    TableRow(score.data(), score.size(), draw.table.data(), values.data());
  }
  return values;
}

}  // namespace prism::step
