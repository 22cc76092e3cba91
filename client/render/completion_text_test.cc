#include "client/render/completion_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/render/golden.h"

namespace prism::render {
namespace {

using prism::v1::ProjectCompletionResponse;
using ::testing::HasSubstr;
using ::testing::Not;

const Terminal kPlain = {.columns = 80, .utf8 = false, .colour = false};

ProjectCompletionResponse Response() {
  return ReadTestMessage<ProjectCompletionResponse>("completion.textproto");
}

TEST(CompletionTextTest, TellsWhenAndWhatTheTimeGoesInto) {
  ExpectGolden(CompletionText(Response(), kPlain), "completion.txt");
}

TEST(CompletionTextTest, RunsThatAllEndNeedNoWarning) {
  ProjectCompletionResponse response = Response();
  response.mutable_completion()->set_unfinished_share(0);
  EXPECT_THAT(CompletionText(response, kPlain), Not(HasSubstr("never end")));
}

TEST(CompletionTextTest, AJobWithoutCheckpointsSaysSo) {
  ProjectCompletionResponse response = Response();
  response.mutable_completion()->set_checkpoint_interval_seconds(0);
  EXPECT_THAT(CompletionText(response, kPlain),
              HasSubstr("Checkpoints\n  no checkpoints\n"));
}

TEST(CompletionTextTest, WhereNothingFailsNoIntervalIsBest) {
  ProjectCompletionResponse response = Response();
  response.mutable_completion()->set_best_checkpoint_interval_seconds(0);
  EXPECT_THAT(CompletionText(response, kPlain),
              HasSubstr("Checkpoints\n  every 60.00 min of work\n"));
}

}  // namespace
}  // namespace prism::render
