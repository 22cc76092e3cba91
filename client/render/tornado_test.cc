#include "client/render/tornado.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/render/golden.h"

namespace prism::render {
namespace {

using prism::v1::Explanation;
using ::testing::HasSubstr;
using ::testing::Not;

const Terminal kPlain = {.columns = 80, .utf8 = false, .colour = false};
const Terminal kBlocks = {.columns = 80, .utf8 = true, .colour = false};

Explanation Example() {
  return ReadTestMessage<Explanation>("explanation.textproto");
}

TEST(TornadoTest, ShowsTheLargestFirst) {
  ExpectGolden(TornadoText(Example(), kPlain), "tornado_ascii.txt");
  ExpectGolden(TornadoText(Example(), kBlocks), "tornado_blocks.txt");
}

TEST(TornadoTest, LeavesOutWhatChangesNothing) {
  const std::string text = TornadoText(Example(), kPlain);
  EXPECT_THAT(text, HasSubstr("compute_regime"));
  EXPECT_THAT(text, Not(HasSubstr("optimizer")));
  EXPECT_THAT(TornadoText(Example(), kPlain, 1),
              Not(HasSubstr("compute_regime")));
}

TEST(TornadoTest, WithoutSourcesThereIsNoText) {
  Explanation explanation = Example();
  explanation.clear_causes();
  EXPECT_EQ(TornadoText(explanation, kPlain), "");
  EXPECT_EQ(TornadoText(Explanation(), kPlain), "");
}

TEST(TornadoTest, IsAPicture) {
  ExpectGolden(TornadoSvg(Example()), "tornado.svg");
}

TEST(TornadoTest, NamesAreTextInAPicture) {
  Explanation explanation = Example();
  explanation.mutable_causes(0)->set_name("a<script>&\"b\"");
  const std::string svg = TornadoSvg(explanation);
  EXPECT_THAT(svg, HasSubstr("a&lt;script&gt;&amp;&quot;b&quot;"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
}

TEST(TornadoTest, ANameIsCutBetweenCharacters) {
  Explanation explanation = Example();
  std::string name = "a";
  for (int i = 0; i < 40; ++i) name += "\xC3\xA9";
  explanation.mutable_causes(0)->set_name(name);
  EXPECT_THAT(TornadoSvg(explanation), HasSubstr("\xC3\xA9..."));
}

TEST(TornadoTest, NothingStandsOutOfNothing) {
  EXPECT_THAT(TornadoSvg(Explanation()), HasSubstr("no source stands out"));
}

}  // namespace
}  // namespace prism::render
