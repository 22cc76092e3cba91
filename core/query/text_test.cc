// JSON and YAML text as trees.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/query/json_text.h"
#include "core/query/yaml_text.h"

namespace prism::query {
namespace {

TEST(PlainScalar, MeansWhatTheCoreSchemaSays) {
  struct Case {
    const char* text;
    Node::Value value;
  };
  const Case cases[] = {
      {"", Node::Null()},
      {"~", Node::Null()},
      {"Null", Node::Null()},
      {"true", true},
      {"FALSE", false},
      {"12", int64_t{12}},
      {"-12", int64_t{-12}},
      {"+12", int64_t{12}},
      {"012", int64_t{12}},
      {"9223372036854775808", uint64_t{9223372036854775808u}},
      {"99999999999999999999", 99999999999999999999.0},
      {"1.5", 1.5},
      {".5", 0.5},
      {"1e3", 1000.0},
      {"1E-3", 0.001},
      {".inf", HUGE_VAL},
      {"-.Inf", -HUGE_VAL},
      {"1e999", HUGE_VAL},
      {"1f1b", std::string("1f1b")},
      {"yes", std::string("yes")},
      {"0x10", std::string("0x10")},
      {"1_000", std::string("1_000")},
      {"1-2", std::string("1-2")},
      {"e", std::string("e")},
      {".", std::string(".")},
      {"inf", std::string("inf")},
      {"nan", std::string("nan")},
      {"1:30", std::string("1:30")},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ParsePlainScalar(c.text).value.index(), c.value.index())
        << c.text;
    EXPECT_EQ(Describe(ParsePlainScalar(c.text)), Describe({c.value}))
        << c.text;
  }
  EXPECT_TRUE(std::isnan(*ParsePlainScalar(".nan").As<double>()));
}

TEST(ParseYaml, QuotesAndTagsMakeText) {
  for (const char* text : {"\"12\"", "'12'", "!!str 12", "! 12", "|-\n  12"}) {
    const auto node = ParseYaml(text);
    ASSERT_TRUE(node.ok()) << text << node.status();
    ASSERT_NE(node->As<std::string>(), nullptr) << text;
    EXPECT_EQ(*node->As<std::string>(), "12") << text;
  }
}

TEST(ParseYaml, KeysKeepTheirSpelling) {
  const auto node = ParseYaml("{07: a, true: b, null: c, \"x y\": d}");
  ASSERT_TRUE(node.ok()) << node.status();
  const auto& map = *node->As<Node::Map>();
  ASSERT_EQ(map.size(), 4u);
  EXPECT_EQ(map[0].key, "07");
  EXPECT_EQ(map[1].key, "true");
  EXPECT_EQ(map[2].key, "null");
  EXPECT_EQ(map[3].key, "x y");
}

TEST(ParseYaml, AliasesRepeatWholeTrees) {
  const auto node = ParseYaml("[&a {x: &b [1, 2]}, *a, *b]");
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ(FormatJson(*node),
            FormatJson(*ParseYaml("[{x: [1, 2]}, {x: [1, 2]}, [1, 2]]")));
}

TEST(ParseYaml, AliasesDoNotNestPastTheLimit) {
  std::string text = "- &a0 [1]\n";
  for (int i = 1; i < 70; ++i) {
    text += "- &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  }
  const auto node = ParseYaml(text);
  EXPECT_EQ(node.status().message(),
            "line 64, column 9: nests deeper than 64 levels");
}

TEST(ParseJson, KeepsKindsOfNumbersApart) {
  const auto node = ParseJson("[1, -1, 18446744073709551615, 1.0, 1e3]");
  ASSERT_TRUE(node.ok()) << node.status();
  const auto& list = *node->As<Node::List>();
  EXPECT_NE(list[0].As<int64_t>(), nullptr);
  EXPECT_NE(list[1].As<int64_t>(), nullptr);
  EXPECT_NE(list[2].As<uint64_t>(), nullptr);
  EXPECT_NE(list[3].As<double>(), nullptr);
  EXPECT_NE(list[4].As<double>(), nullptr);
}

TEST(ParseJson, KeepsDuplicateKeysInOrder) {
  const auto node = ParseJson(R"({"b": 1, "a": 2, "b": 3})");
  ASSERT_TRUE(node.ok());
  const auto& map = *node->As<Node::Map>();
  ASSERT_EQ(map.size(), 3u);
  EXPECT_EQ(map[2].key, "b");
}

TEST(ParseJson, TellsMalformedFromTooLarge) {
  EXPECT_TRUE(absl::IsInvalidArgument(ParseJson("{").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseJson("").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseJson("[1] // no").status()));
  EXPECT_TRUE(absl::IsOutOfRange(ParseJson("[1e999]").status()));
}

TEST(ParseJson, ErrorsArePrintable) {
  const auto status = ParseJson("{\"\xff\x01" + std::string(500, 'x')).status();
  for (const char c : status.message()) EXPECT_TRUE(c >= ' ' && c <= '~');
  EXPECT_LT(status.message().size(), 300u);
}

TEST(FormatJson, IndentsAndCloses) {
  const auto node = ParseJson(R"({"a":[1,{"b":null}],"c":{},"d":[]})");
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(FormatJson(*node),
            "{\n"
            "  \"a\": [\n"
            "    1,\n"
            "    {\n"
            "      \"b\": null\n"
            "    }\n"
            "  ],\n"
            "  \"c\": {},\n"
            "  \"d\": []\n"
            "}");
}

TEST(FormatJson, HasNoNumbersThatJsonLacks) {
  EXPECT_EQ(FormatJson({HUGE_VAL}), "null");
  EXPECT_EQ(FormatJson({std::nan("")}), "null");
}

TEST(QuoteJson, IsAlwaysUtf8) {
  EXPECT_EQ(QuoteJson("a\"\n"), "\"a\\\"\\n\"");
  EXPECT_EQ(QuoteJson("\xff"), "\"\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace prism::query
