#include "client/render/explanation_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/render/golden.h"

namespace prism::render {
namespace {

using prism::v1::Explanation;
using ::testing::HasSubstr;
using ::testing::Not;

const Terminal kPlain = {.columns = 80, .utf8 = false, .colour = false};

Explanation Example() {
  return ReadTestMessage<Explanation>("explanation.textproto");
}

TEST(ExplanationTextTest, TellsWhyAndWhatIf) {
  ExpectGolden(ExplanationText(Example(), kPlain), "explanation.txt");
}

TEST(ExplanationTextTest, WhereNoPathWasFollowedNothingIsSaidOfIt) {
  Explanation explanation = Example();
  explanation.set_paths(0);
  const std::string text = ExplanationText(explanation, kPlain);
  EXPECT_THAT(text, Not(HasSubstr("100.0%")));
}

TEST(ExplanationTextTest, ManySourcesOfASortAreCut) {
  Explanation explanation = Example();
  for (int i = 0; i < 12; ++i) {
    *explanation.add_causes() = explanation.causes(3);
  }
  EXPECT_THAT(ExplanationText(explanation, kPlain),
              HasSubstr("  and 5 more, in the JSON\n"));
}

}  // namespace
}  // namespace prism::render
