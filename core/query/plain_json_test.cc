#include "core/query/plain_json.h"

#include <gtest/gtest.h>

#include <string>

#include "core/query/json_text.h"

namespace prism::query {
namespace {

// The shape and the bits of every value.
std::string Spelled(const Node& node) {
  std::string text = std::to_string(node.value.index());
  if (const auto* list = node.As<Node::List>()) {
    for (const Node& item : *list) text += "[" + Spelled(item) + "]";
  } else if (const auto* map = node.As<Node::Map>()) {
    for (const Entry& entry : *map) {
      text += "{" + entry.key + ":" + Spelled(entry.node) + "}";
    }
  } else {
    text += Describe(node);
  }
  return text;
}

TEST(ParsePlainJson, MakesTheTreeThatTheTextSays) {
  struct Case {
    const char* text;
    const char* spelled;
  };
  const Case cases[] = {
      {"null", "0null"},
      {" true\n", "1true"},
      {"[false]", "6[1false]"},
      {"-0", "20"},
      {"-12", "2-12"},
      {"9223372036854775807", "29223372036854775807"},
      {"0.5", "40.5"},
      {"-0.0", "4-0.0"},
      {"1e3", "41000"},
      {"1.25E-2", "40.0125"},
      {"1e+2", "4100"},
      {"0.1000000000000000055511151231257827", "40.1"},
      {"[]", "6"},
      {"{}", "7"},
      {"[1, [2.5,\t\"a b\"]]", "6[21][6[42.5][5\"a b\"]]"},
      {"{\"a\": {\"b\": 1}, \"a\":2}", "7{a:7{b:21}}{a:22}"},
  };
  for (const Case& c : cases) {
    const auto node = ParsePlainJson(c.text);
    ASSERT_TRUE(node.has_value()) << c.text;
    EXPECT_EQ(Spelled(*node), c.spelled) << c.text;
  }
}

TEST(ParsePlainJson, LeavesWrongAndUnusualTextAlone) {
  const std::string cases[] = {"",
                               " ",
                               "{",
                               "[1",
                               "[1,]",
                               "{\"a\":1,}",
                               "{\"a\"}",
                               "{a:1}",
                               "{1:1}",
                               "{\"a\":}",
                               "1 2",
                               "{} x",
                               "01",
                               "+1",
                               ".5",
                               "1.",
                               "1e",
                               "1e+",
                               "-",
                               "--1",
                               "0x10",
                               "nan",
                               "tru",
                               "1 // one",
                               "'a'",
                               "\"a",
                               "\"a\\n\"",
                               "\"\xC3\xA4\"",
                               "\"\t\"",
                               "9223372036854775808",
                               "1e999",
                               "1e-999",
                               std::string("1\0", 2),
                               std::string("[1\0]", 4),
                               std::string(65, '[') + std::string(65, ']')};
  for (const std::string& text : cases) {
    EXPECT_FALSE(ParsePlainJson(text).has_value()) << text;
  }
}

// One escape makes all of a text unusual.
TEST(ParsePlainJson, AgreesWithTheParserOfUnusualText) {
  const std::string values =
      "[null, true, -3, 0.1, 1e3, {\"a\": [], \"a\": {}}, ";
  const auto plain = ParsePlainJson(values + "\"A\"]");
  const auto unusual = ParseJson(values + "\"\\u0041\"]");
  ASSERT_TRUE(plain.has_value());
  ASSERT_TRUE(unusual.ok()) << unusual.status();
  EXPECT_EQ(Spelled(*plain), Spelled(*unusual));
}

}  // namespace
}  // namespace prism::query
