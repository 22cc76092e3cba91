#include "core/query/node.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace prism::query {
namespace {

TEST(FormatNumber, IsShortAndExact) {
  struct Case {
    double value;
    const char* text;
  };
  const Case cases[] = {
      {0, "0"},        {-0.0, "-0.0"},  {1, "1"},
      {-12, "-12"},    {0.1, "0.1"},    {1e5, "100000"},
      {1e15, "1e+15"}, {1e-7, "1e-07"}, {2.5e300, "2.5e+300"}};
  for (const Case& c : cases) EXPECT_EQ(FormatNumber(c.value), c.text);
}

TEST(Describe, ShowsValuesAndKinds) {
  EXPECT_EQ(Describe({}), "null");
  EXPECT_EQ(Describe({true}), "true");
  EXPECT_EQ(Describe({int64_t{-3}}), "-3");
  EXPECT_EQ(Describe({uint64_t{18446744073709551615u}}),
            "18446744073709551615");
  EXPECT_EQ(Describe({2.5}), "2.5");
  EXPECT_EQ(Describe({std::string("a")}), "\"a\"");
  EXPECT_EQ(Describe({Node::List()}), "a list");
  EXPECT_EQ(Describe({Node::Map()}), "a map");
}

TEST(Quote, EscapesAndCuts) {
  EXPECT_EQ(Quote("a\n\x01"), "\"a\\n\\x01\"");
  EXPECT_EQ(Quote(std::string(100, 'x')),
            "\"" + std::string(60, 'x') + "...\"");
}

TEST(IsUtf8, TellsTextFromBytes) {
  EXPECT_TRUE(IsUtf8("plain"));
  EXPECT_TRUE(IsUtf8("\xc3\xa9"));
  EXPECT_FALSE(IsUtf8("\xff"));
  EXPECT_FALSE(IsUtf8("\xc3"));
}

TEST(TreeBuilder, NestsWhatItIsGiven) {
  TreeBuilder builder;
  EXPECT_TRUE(builder.BeginMap());
  EXPECT_TRUE(builder.wants_key());
  builder.Key("list");
  EXPECT_FALSE(builder.wants_key());
  EXPECT_TRUE(builder.BeginList());
  EXPECT_TRUE(builder.Add(int64_t{1}));
  EXPECT_TRUE(builder.Add(true));
  builder.End();
  builder.Key("last");
  EXPECT_TRUE(builder.Add(Node::Null()));
  builder.End();
  EXPECT_EQ(builder.depth(), 0);
  EXPECT_EQ(CountNodes(builder.root()), 5);
  const auto& map = *builder.root().As<Node::Map>();
  ASSERT_EQ(map.size(), 2u);
  EXPECT_EQ(map[0].key, "list");
  EXPECT_EQ(map[0].node.As<Node::List>()->size(), 2u);
  EXPECT_EQ(map[1].key, "last");
}

TEST(TreeBuilder, StopsAtItsDepth) {
  TreeBuilder builder;
  for (int i = 0; i < TreeBuilder::kMostDepth; ++i) {
    ASSERT_TRUE(builder.BeginList());
  }
  EXPECT_FALSE(builder.BeginList());
  EXPECT_EQ(builder.problem(), "nests deeper than 64 levels");
  EXPECT_FALSE(builder.Add(true));
}

TEST(TreeBuilder, StopsAtItsSize) {
  TreeBuilder builder;
  ASSERT_TRUE(builder.BeginList());
  EXPECT_TRUE(builder.Charge(TreeBuilder::kMostNodes - 2));
  EXPECT_TRUE(builder.Add(true));
  EXPECT_FALSE(builder.Add(true));
  EXPECT_EQ(builder.problem(), "holds more than 4000000 values");
}

TEST(TreeBuilder, HasOneRoot) {
  TreeBuilder builder;
  EXPECT_TRUE(builder.Add(true));
  EXPECT_FALSE(builder.Add(true));
  EXPECT_EQ(builder.problem(), "holds more than one document");
}

}  // namespace
}  // namespace prism::query
