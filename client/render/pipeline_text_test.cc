#include "client/render/pipeline_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "client/render/bars.h"
#include "client/render/golden.h"

namespace prism::render {
namespace {

using prism::v1::RecordTimelineResponse;
using testing::HasSubstr;
using testing::Not;

RecordTimelineResponse Example() {
  return ReadTestMessage<RecordTimelineResponse>("pipeline.textproto");
}

TEST(PipelineTextTest, InAscii) {
  ExpectGolden(PipelineText(Example(), {.columns = 80}), "pipeline_ascii.txt");
}

TEST(PipelineTextTest, InBlocks) {
  ExpectGolden(PipelineText(Example(), {.columns = 80, .utf8 = true}),
               "pipeline_blocks.txt");
}

TEST(PipelineTextTest, InColour) {
  ExpectGolden(
      PipelineText(Example(), {.columns = 60, .utf8 = true, .colour = true}),
      "pipeline_colour.txt");
}

TEST(PipelineTextTest, NoLineIsWiderThanTheTerminal) {
  for (int columns = kLeastColumns; columns <= kMostColumns; ++columns) {
    std::istringstream text(
        PipelineText(Example(), {.columns = columns, .utf8 = true}));
    for (std::string line; std::getline(text, line);) {
      EXPECT_LE(DisplayWidth(line), columns) << line;
    }
  }
}

TEST(PipelineTextTest, ManyRanksEndWithTheirNumber) {
  RecordTimelineResponse response = Example();
  auto& step = *response.mutable_steps(0);
  while (step.ranks_size() < 40) *step.add_ranks() = step.ranks(0);
  const std::string text = PipelineText(response, {.columns = 80});
  EXPECT_THAT(text, HasSubstr("and 8 more; a file ending in .svg shows all"));
  EXPECT_THAT(text, HasSubstr("rank 0, stage 0"));
}

TEST(PipelineTextTest, StepsOfNoTimeAreDrawn) {
  RecordTimelineResponse response = Example();
  response.mutable_steps()->DeleteSubrange(1, 1);
  auto& step = *response.mutable_steps(0);
  step.set_step_seconds(0);
  for (auto& rank : *step.mutable_ranks()) rank.clear_operations();
  EXPECT_THAT(PipelineText(response, {.columns = 80}), HasSubstr("stage 0"));
}

TEST(PipelineTextTest, WithoutWeightGradientsTheLegendHasNone) {
  RecordTimelineResponse response = Example();
  EXPECT_THAT(PipelineText(response, {.columns = 80}),
              HasSubstr("weight gradients"));
  response.mutable_steps()->DeleteSubrange(0, 1);
  EXPECT_THAT(PipelineText(response, {.columns = 80}),
              Not(HasSubstr("weight gradients")));
}

}  // namespace
}  // namespace prism::render
