#include "client/render/pipeline_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "client/render/golden.h"

namespace prism::render {
namespace {

using prism::v1::RecordTimelineResponse;
using testing::HasSubstr;
using testing::Not;

RecordTimelineResponse Example() {
  return ReadTestMessage<RecordTimelineResponse>("pipeline.textproto");
}

int Count(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<int>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex),
                    std::sregex_iterator()));
}

TEST(PipelineSvgTest, ASmallPicture) {
  ExpectGolden(PipelineSvg(Example()), "pipeline.svg");
}

TEST(PipelineSvgTest, EveryOperationIsDrawnOnceWithItsTimes) {
  const std::string svg = PipelineSvg(Example());
  // And one of each in the legend.
  EXPECT_EQ(Count(svg, "<rect class=\"forward\""), 6 + 1);
  EXPECT_EQ(Count(svg, "<rect class=\"input\""), 4);
  EXPECT_EQ(Count(svg, "<rect class=\"backward\""), 1 + 1);
  EXPECT_EQ(Count(svg, "<rect class=\"weights\""), 4 + 1);
  EXPECT_EQ(Count(svg, "<rect class=\"closing\""), 3 + 1);
  EXPECT_EQ(Count(svg, "<title>"), 18);
  EXPECT_THAT(svg, HasSubstr("<title>input of micro-batch 0, chunk 0: "
                             "3.500 s to 4.500 s after 1.500 s of waiting"));
}

TEST(PipelineSvgTest, ElementsAreClosedAndNothingIsFetched) {
  const std::string svg = PipelineSvg(Example());
  for (const char* tag : {"svg", "text", "title", "style"}) {
    EXPECT_EQ(Count(svg, std::string("<") + tag + "[ >]"),
              Count(svg, std::string("</") + tag + ">"))
        << tag;
  }
  EXPECT_EQ(Count(svg, "https?://"), 1);  // the name of the format
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
}

TEST(PipelineSvgTest, LaterChunksArePaler) {
  RecordTimelineResponse response = Example();
  EXPECT_THAT(PipelineSvg(response), Not(HasSubstr("forward later")));
  response.set_stage_of(1, 0);
  EXPECT_THAT(PipelineSvg(response), HasSubstr("forward later"));
}

TEST(PipelineSvgTest, ManyOperationsHaveNoTips) {
  RecordTimelineResponse response = Example();
  auto& rank = *response.mutable_steps(0)->mutable_ranks(0);
  while (rank.operations_size() <= 20'000) {
    *rank.add_operations() = rank.operations(0);
  }
  EXPECT_THAT(PipelineSvg(response), Not(HasSubstr("<title>")));
}

TEST(PipelineSvgTest, AnEmptyTimelineIsAPicture) {
  EXPECT_THAT(PipelineSvg(RecordTimelineResponse()), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace prism::render
