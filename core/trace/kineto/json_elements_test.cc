#include "core/trace/kineto/json_elements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace prism::kineto {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

struct Pieces : JsonElements::Sink {
  void OnElement(std::string_view text, int64_t byte) override {
    elements.emplace_back(text);
    bytes.push_back(byte);
  }
  void OnField(std::string_view key, std::string_view text) override {
    fields.emplace_back(key, text);
  }

  std::vector<std::string> elements;
  std::vector<int64_t> bytes;
  std::vector<std::pair<std::string, std::string>> fields;
  Damage damage;
};

Pieces Cut(std::string_view text, size_t block = 1) {
  Pieces pieces;
  JsonElements elements("list", pieces, pieces.damage);
  for (size_t at = 0; at < text.size(); at += block)
    elements.Feed(text.substr(at, block));
  elements.Finish();
  return pieces;
}

std::vector<std::string> What(const Damage& damage) {
  std::vector<std::string> what;
  for (const DamagedPlace& place : damage.named()) what.push_back(place.what);
  return what;
}

TEST(JsonElementsTest, CutsTheArrayAndGivesTheOtherValues) {
  const std::string text =
      R"( {"a": 1, "b": {"list": [2]}, "list": [ {"x": "}]"} , {"y": [1]} ],)"
      R"( "c": "\",", "d": [{}]} )";
  for (const size_t block : {1, 3, 1000}) {
    const Pieces pieces = Cut(text, block);
    EXPECT_THAT(pieces.elements,
                ElementsAre(R"({"x": "}]"})", R"({"y": [1]})"));
    EXPECT_EQ(text.substr(static_cast<size_t>(pieces.bytes[1]), 4), "{\"y\"");
    EXPECT_THAT(pieces.fields,
                ElementsAre(Pair("a", "1"), Pair("b", R"({"list": [2]})"),
                            Pair("c", R"("\",")"), Pair("d", "[{}]")));
    EXPECT_EQ(pieces.damage.count(), 0);
  }
}

TEST(JsonElementsTest, TakesABareArrayAlsoWithoutItsEnd) {
  for (const std::string text : {R"([{"a":1},{"b":2}])", R"([{"a":1},{"b":2},)",
                                 R"([{"a":1},{"b":2})"}) {
    const Pieces pieces = Cut(text);
    EXPECT_THAT(pieces.elements, SizeIs(2)) << text;
    EXPECT_EQ(pieces.damage.count(), 0) << text;
  }
}

TEST(JsonElementsTest, NamesWhatIsNotATrace) {
  EXPECT_THAT(What(Cut("").damage), ElementsAre("is empty"));
  EXPECT_THAT(What(Cut("  ").damage), ElementsAre("is empty"));
  EXPECT_THAT(What(Cut("hello").damage),
              ElementsAre("is not JSON: it begins neither with { nor with ["));
  EXPECT_THAT(What(Cut("{\"a\": 1}").damage), ElementsAre("has no list"));
  EXPECT_THAT(What(Cut("{\"list\": []} x").damage),
              ElementsAre("something follows the end of the document"));
}

// A file whose third element is damaged; the others must all be found.
struct DamagedCase {
  const char* name;
  const char* element;
};

TEST(JsonElementsTest, FindsTheElementsBehindADamagedOne) {
  constexpr DamagedCase kCases[] = {
      {"a quote is lost, and a line ends", "{\"name: \"c\", \"d\": 1}"},
      {"a brace is a bracket", R"({"name": "c", "args": {"d": 1]})"},
      {"the first brace is lost", R"("name": "c", "args": {"d": [1, 2]}})"},
      {"the last brace is lost", R"({"name": "c", "args": {"d": 1})"},
      {"something else stands there", R"(nothing)"},
      {"too deep",
       "{[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["},
  };
  for (const DamagedCase& test : kCases) {
    const std::string text = std::string(
                                 "{\"list\": [\n{\"a\": 1},\n{\"b\": "
                                 "1},\n") +
                             test.element +
                             ",\n{\"e\": 1},\n{\"f\": 1}\n], \"g\": 2}";
    const Pieces pieces = Cut(text);
    std::vector<std::string> found;
    for (const std::string& element : pieces.elements)
      if (element.size() == 8) found.push_back(element);
    EXPECT_THAT(found, ElementsAre(R"({"a": 1})", R"({"b": 1})", R"({"e": 1})",
                                   R"({"f": 1})"))
        << test.name;
    EXPECT_GE(pieces.damage.count(), 1) << test.name;
  }
}

// Without line breaks a lost quote makes a string of the rest of the file.
TEST(JsonElementsTest, FindsElementsInWhatALostQuoteSwallows) {
  const Pieces pieces =
      Cut(R"({"list": [{"a":"x"},{"b:"x"},{"c":"x"},{"d":"x"}]})");
  EXPECT_THAT(pieces.elements,
              ElementsAre(R"({"a":"x"})", R"({"c":"x"})", R"({"d":"x"})"));
  EXPECT_GE(pieces.damage.count(), 1);
}

TEST(JsonElementsTest, NamesEveryTruncation) {
  const std::string text =
      R"({"a": 1, "list": [{"x": 1}, {"y": {"z": "s"}}], "c": 3})";
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_EQ(Cut(text.substr(0, size)).damage.count() > 0, true) << size;
  EXPECT_EQ(Cut(text).damage.count(), 0);
}

TEST(JsonElementsTest, LeavesOutAnElementWithoutEnd) {
  std::string text = R"({"list": [{"a": 1},{"long": ")";
  text.append(JsonElements::kMostElementBytes + 10, 'x');
  text += R"("},{"b": 1}]})";
  const Pieces pieces = Cut(text, 1000);
  EXPECT_THAT(pieces.elements, ElementsAre(R"({"a": 1})", R"({"b": 1})"));
  EXPECT_THAT(What(pieces.damage), ElementsAre("an object is too long"));
}

// Each of these makes every byte the start of something that never ends.
TEST(JsonElementsTest, GivesUpOnAFileThatIsNothingButDamage) {
  for (const std::string piece : {",{\"", ",{", "{", "[", "\"", ",{\"\n"}) {
    std::string text = "[";
    while (text.size() < 3'000'000) text += piece;
    EXPECT_GT(Cut(text, 1 << 16).damage.count(), 0) << piece;
  }
}

TEST(JsonElementsTest, TakesAnyBytes) {
  std::mt19937_64 random(1);
  constexpr std::string_view kSyntax = "{}[]\",:\\ \nab1";
  for (int i = 0; i < 20000; ++i) {
    std::string text = i % 2 == 0 ? "" : "{\"list\": [";
    for (uint64_t n = random() % 60; n > 0; --n)
      text += kSyntax[random() % kSyntax.size()];
    Cut(text, 1 + random() % 8);
  }
}

}  // namespace
}  // namespace prism::kineto
