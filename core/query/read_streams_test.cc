// Which streams of a profile are accepted, and which mean the same.

#include "core/query/read_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/query/canonical_form.h"
#include "core/query/document.h"
#include "core/query/question.h"

namespace prism::query {
namespace {

using testing::HasSubstr;

// Two replicas of three layers; `keys` of the profile, `layer` of the layer.
std::string Text(const std::string& keys, const std::string& layer) {
  return "profile: {" + keys + "forward: [{compute: 1, count: 3" + layer +
         "}], backward: [{compute: 2}]}";
}

std::vector<base::Violation> Problems(const std::string& text) {
  prism::v1::Question message;
  base::Violations violations;
  ReadDocument(text, &message, violations);
  ReadQuestion(message, "", violations);
  return violations.list();
}

std::string Form(const std::string& text) {
  prism::v1::Question message;
  base::Violations violations;
  ReadDocument(text, &message, violations);
  const auto question = ReadQuestion(message, "", violations);
  EXPECT_TRUE(question.has_value()) << text;
  return question ? CanonicalForm(*question) : "";
}

struct WrongCase {
  std::string text, field, description;
};

class WrongStreamTest : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongStreamTest, IsNamed) {
  const auto problems = Problems(GetParam().text);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].field, GetParam().field);
  EXPECT_THAT(problems[0].description, HasSubstr(GetParam().description));
}

INSTANTIATE_TEST_SUITE_P(
    Profiles, WrongStreamTest,
    testing::Values(
        WrongCase{Text("layout: {data: 4, shard: 3}, ", ", gather: 1"),
                  "profile.layout.shard", "must divide layout.data"},
        WrongCase{Text("prefetch: 1001, ", ", gather: 1"), "profile.prefetch",
                  "to 1000"},
        WrongCase{Text("overlap_slowdown: 0.9, ", ", gather: 1"),
                  "profile.overlap_slowdown", "at least 1"},
        WrongCase{Text("", ", gather: -1"), "profile.forward[0].gather", ""},
        WrongCase{Text("", ", reduce: 1"), "profile.forward[0].reduce",
                  "unless scatter is set"},
        WrongCase{Text("", ", collective: 1, sync: data, overlap: true"),
                  "profile.forward[0].overlap", "where sync is data"},
        WrongCase{"profile: {prefetch: 1, layout: {data: 1024}, forward: "
                  "[{compute: 1, gather: 1}, {compute: 1, count: 50000}, "
                  "{compute: 1, gather: 1}], backward: [{compute: 1}]}",
                  "profile.prefetch", "must be at most 16777216"}));

struct Pair {
  std::string one, other;
};

class SameStreamTest : public testing::TestWithParam<Pair> {};

TEST_P(SameStreamTest, HasTheSameForm) {
  EXPECT_EQ(Form(GetParam().one), Form(GetParam().other));
}

INSTANTIATE_TEST_SUITE_P(
    Profiles, SameStreamTest,
    testing::Values(
        Pair{Text("", ""), Text("prefetch: 2, gather_once: true, scatter_once: "
                                "true, overlap_slowdown: 1.2, layout: {data: 1,"
                                " shard: 1}, ",
                                "")},
        Pair{Text("layout: {data: 4}, ", ", gather: 1"),
             Text("layout: {data: 4, shard: 4}, ", ", gather: 1")},
        Pair{Text("prefetch: 3, ", ", gather: 1"),
             Text("prefetch: 7, ", ", gather: 1")},
        Pair{Text("", ", scatter: 1"),
             Text("scatter_once: true, overlap_slowdown: 1, ", ", scatter: 1")},
        Pair{Text("", ""), Text("", ", overlap: true")}));

class OtherStreamTest : public testing::TestWithParam<Pair> {};

TEST_P(OtherStreamTest, HasAnotherForm) {
  EXPECT_NE(Form(GetParam().one), Form(GetParam().other));
}

INSTANTIATE_TEST_SUITE_P(
    Profiles, OtherStreamTest,
    testing::Values(
        Pair{Text("", ""), Text("", ", gather: 0")},
        Pair{Text("", ", gather: 1"), Text("", ", scatter: 1")},
        Pair{Text("", ", scatter: 1"), Text("", ", scatter: 1, reduce: 1")},
        Pair{Text("", ", collective: 1"),
             Text("", ", collective: 1, overlap: true")},
        Pair{Text("", ", gather: 1"), Text("prefetch: 1, ", ", gather: 1")},
        Pair{Text("", ", gather: 1"),
             Text("overlap_slowdown: 1.1, ", ", gather: 1")},
        Pair{Text("layout: {data: 4}, ", ", gather: 1"),
             Text("layout: {data: 4, shard: 2}, ", ", gather: 1")},
        Pair{Text("layout: {microbatches: 2}, ", ", scatter: 1"),
             Text("layout: {microbatches: 2}, scatter_once: true, ",
                  ", scatter: 1")},
        Pair{Text("layout: {microbatches: 2}, ", ", gather: 1"),
             Text("layout: {microbatches: 2}, gather_once: true, ",
                  ", gather: 1")}));

}  // namespace
}  // namespace prism::query
