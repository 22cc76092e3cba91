#include "core/query/document.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "prism/v1/prediction_service.pb.h"
#include "prism/v1/step_profile.pb.h"

namespace prism::query {
namespace {

using prism::v1::Job;
using prism::v1::StepProfile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename Message>
Message Read(const std::string& text) {
  Message message;
  base::Violations violations;
  ReadDocument(text, &message, violations);
  for (const base::Violation& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return message;
}

template <typename Message>
std::vector<base::Violation> Problems(const std::string& text) {
  Message message;
  base::Violations violations;
  ReadDocument(text, &message, violations);
  return violations.list();
}

TEST(Document, YamlAndJsonSayTheSame) {
  const auto yaml = Read<StepProfile>(R"(
layout: {data: 4, pipeline: 2, microbatches: 8}
schedule: 1f1b
forward:
  - name: layer
    compute: {lognormal: {mean: 1, cv: 0.05}}
    sync: tensor
    count: 4
backward:
  - compute: 2
slowdown: {3: 1.25}
)");
  const auto json = Read<StepProfile>(R"({
    "layout": {"data": 4, "pipeline": 2, "microbatches": 8},
    "schedule": "1f1b",
    "forward": [{"name": "layer", "sync": "tensor", "count": 4,
                 "compute": {"lognormal": {"mean": 1, "cv": 0.05}}}],
    "backward": [{"compute": {"constant": 2}}],
    "slowdown": {"3": 1.25}})");
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(yaml, json))
      << yaml.DebugString() << json.DebugString();
  EXPECT_EQ(json.forward(0).compute().lognormal().cv(), 0.05);
  EXPECT_EQ(json.slowdown().at(3), 1.25);
}

TEST(Document, PlainListIsAMixture) {
  const auto profile = Read<StepProfile>(R"(
transfer:
  mixture:
    - {weight: 3, distribution: 1.5}
    - {weight: 1, distribution: {gamma: {mean: 9, cv: 1}}}
)");
  ASSERT_EQ(profile.transfer().mixture().components_size(), 2);
  EXPECT_EQ(profile.transfer().mixture().components(0).weight(), 3);
  EXPECT_EQ(
      profile.transfer().mixture().components(0).distribution().constant(),
      1.5);
}

struct NumberCase {
  std::string text;
  uint32_t value;
};

TEST(Document, IntegersMayBeWrittenAsIntegralNumbers) {
  const NumberCase cases[] = {{"7", 7},
                              {"1e3", 1000},
                              {"2.0", 2},
                              {"+5", 5},
                              {"4294967295", 4294967295u}};
  for (const NumberCase& c : cases) {
    EXPECT_EQ(Read<Job>("model: {layers: " + c.text + "}").model().layers(),
              c.value)
        << c.text;
  }
}

TEST(Document, AliasesAreExpanded) {
  const auto profile = Read<StepProfile>(R"(
forward: [&op {compute: 1, collective: 2}]
backward: [*op]
)");
  EXPECT_EQ(profile.backward(0).collective().constant(), 2);
}

TEST(Document, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(Read<Job>("\xef\xbb\xbfname: a").name(), "a");
}

struct WrongCase {
  std::string text;
  std::string field;
  std::string description;  // a part of it
};

class WrongProfile : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongProfile, NamesFieldValueAndWhatIsAccepted) {
  const auto problems = Problems<StepProfile>(GetParam().text);
  ASSERT_EQ(problems.size(), 1u) << GetParam().text;
  EXPECT_EQ(problems[0].field, GetParam().field);
  EXPECT_THAT(problems[0].description, HasSubstr(GetParam().description));
}

INSTANTIATE_TEST_SUITE_P(
    Yaml, WrongProfile,
    testing::Values(
        WrongCase{"layuot: {data: 1}", "layuot",
                  "did you mean \"layout\"?; accepted keys: name, layout"},
        WrongCase{"layout: {data: 1, chips: 2}", "layout.chips",
                  "is not a key here; accepted keys: data, pipeline"},
        WrongCase{"name: a\nname: b", "name", "is given twice"},
        WrongCase{"layout: {data: many}", "layout.data",
                  "is \"many\"; must be an integer from 0 to 4294967295"},
        WrongCase{"layout: {data: \"4\"}", "layout.data", "is \"4\"; must be"},
        WrongCase{"layout: {data: -1}", "layout.data", "is -1; must be"},
        WrongCase{"layout: {data: 1.5}", "layout.data", "is 1.5; must be"},
        WrongCase{"layout: {data: 4294967296}", "layout.data",
                  "is 4294967296; must be"},
        WrongCase{"layout: {data: 99999999999999999999}", "layout.data",
                  "must be an integer"},
        WrongCase{"layout: {data: .nan}", "layout.data", "is nan; must be"},
        WrongCase{"layout: {data: .inf}", "layout.data", "is inf; must be"},
        WrongCase{"layout: {data: [1]}", "layout.data", "is a list; must be"},
        WrongCase{"layout: {data: }", "layout.data", "is null; must be"},
        WrongCase{"layout: 8", "layout", "is 8; must be a map with keys of"},
        WrongCase{"layout: ", "layout", "is null; must be a map"},
        WrongCase{"name: 175", "name", "is 175; must be text"},
        WrongCase{"name: [a]", "name", "is a list; must be text"},
        WrongCase{"schedule: 1f1c", "schedule",
                  "is \"1f1c\"; must be one of gpipe, 1f1b, interleaved, "
                  "breadth-first, zb-h1, zb-h2, zb-v, v-half, v-min, dualpipe, "
                  "dualpipe-v, zb-auto, custom, 2bw, bubble-free, round-robin; "
                  "did you mean \"1f1b\"?"},
        WrongCase{"schedule: 2", "schedule", "is 2; must be one of gpipe"},
        WrongCase{"schedule: SCHEDULE_GPIPE", "schedule", "must be one of"},
        WrongCase{"forward: {compute: 1}", "forward",
                  "is a map; must be a list"},
        WrongCase{"forward: [{compute: 1}, {sync: all}]", "forward[1].sync",
                  "is \"all\"; must be one of none, tensor, data"},
        WrongCase{"forward: [4]", "forward[0]", "is 4; must be a map"},
        WrongCase{"transfer: fast", "transfer",
                  "is \"fast\"; must be a number, or a map with one key of "
                  "constant, normal"},
        WrongCase{"transfer: .inf", "transfer", "is inf; must be a finite"},
        WrongCase{"transfer: 1e999", "transfer", "is inf; must be a finite"},
        WrongCase{"transfer: {gaussian: {mean: 1}}", "transfer.gaussian",
                  "is not a key here"},
        WrongCase{"transfer: {constant: 1, normal: {mean: 1}}",
                  "transfer.normal",
                  "is one too many; give only one of constant, normal"},
        WrongCase{"transfer: {normal: {mean: x}}", "transfer.normal.mean",
                  "is \"x\"; must be a number"},
        WrongCase{"transfer: {mixture: {components: []}}", "transfer.mixture",
                  "is a map; must be a list"},
        WrongCase{"transfer: {mixture: [{weight: 1, distribution: true}]}",
                  "transfer.mixture[0].distribution", "is true; must be"},
        WrongCase{"transfer: {empirical: {samples: [1, 2, x]}}",
                  "transfer.empirical.samples[2]", "is \"x\"; must be"},
        WrongCase{"stage_scale: 2", "stage_scale", "is 2; must be a list"},
        WrongCase{"slowdown: [1]", "slowdown", "is a list; must be a map"},
        WrongCase{"slowdown: {first: 2}", "slowdown[first]",
                  "is not a rank; must be an integer from 0"},
        WrongCase{"slowdown: {-1: 2}", "slowdown[-1]", "is not a rank"},
        WrongCase{"slowdown: {7: fast}", "slowdown[7]", "is \"fast\"; must"},
        WrongCase{"slowdown: {7: 1, 07: 2}", "slowdown[7]", "given twice"},
        WrongCase{"{[a]: 1}", "", "is not valid JSON"},
        WrongCase{"", "", "is empty"}, WrongCase{"# nothing", "", "is empty"},
        WrongCase{"just text", "", "is \"just text\"; must be a map"},
        WrongCase{"- a\n- b", "", "is a list; must be a map"},
        WrongCase{"name: a\n---\nname: b", "", "more than one document"},
        WrongCase{"name: \"a", "", "is not valid YAML: line 1, column"},
        WrongCase{"? [a]\n: 1", "", "line 1, column 3: a key must be a word"},
        WrongCase{"a: &x [*x]", "", "an alias refers to a value that"},
        WrongCase{"name: *nobody", "", "is not valid YAML: line 1"}));

INSTANTIATE_TEST_SUITE_P(
    Json, WrongProfile,
    testing::Values(
        WrongCase{R"({"layout": {"data": "4"}})", "layout.data",
                  "is \"4\"; must be an integer"},
        WrongCase{R"({"layout": {"data": -4}})", "layout.data", "is -4; must"},
        WrongCase{R"({"name": 1})", "name", "is 1; must be text"},
        WrongCase{R"({"name": null})", "name", "is null; must be text"},
        WrongCase{R"({"transfer": 1e999})", "transfer",
                  "is inf; must be a finite number"},
        WrongCase{R"({"transfer":1e999})", "transfer", "is inf; must be"},
        WrongCase{"{\n\t\"transfer\": 1e999}", "transfer", "is inf; must be"},
        WrongCase{R"({"transfer": -1e999})", "transfer", "is -inf; must be"},
        WrongCase{R"({"slowdown": {"1": 1, "1": 2}})", "slowdown[1]",
                  "is given twice"},
        WrongCase{R"({"name": "a", "name": "b"})", "name", "is given twice"},
        WrongCase{R"({"transfer": NaN})", "",
                  "is not valid JSON: parse error at line 1, column 14"},
        WrongCase{R"({"name": "a"} x)", "", "is not valid JSON"},
        WrongCase{R"({"name": "a",})", "", "is not valid JSON"},
        WrongCase{"{\"name\": \"\xff\"}", "", "is not valid JSON"},
        WrongCase{"[]", "", "is a list; must be a map"}));

TEST(Document, AListStandsForTheFieldNamed) {
  for (const char* text :
       {"[{\"compute\": 1}, {\"compute\": 2, \"sync\": \"all\"}]",
        "# words\n---\n- compute: 1\n- compute: 2\n  sync: all\n"}) {
    StepProfile profile;
    base::Violations violations;
    ReadDocument(text, &profile, violations, "forward");
    EXPECT_EQ(profile.forward_size(), 2) << text;
    ASSERT_EQ(violations.list().size(), 1u) << text;
    EXPECT_EQ(violations.list().front().field, "forward[1].sync");
  }
}

TEST(Document, AMapIsTheMessageThoughAListMayStandForAField) {
  StepProfile profile;
  base::Violations violations;
  ReadDocument("forward: [{compute: 1}]", &profile, violations, "forward");
  EXPECT_TRUE(violations.empty());
  EXPECT_EQ(profile.forward_size(), 1);
}

TEST(Document, AllProblemsAreFoundInOnePass) {
  std::vector<std::string> fields;
  for (const auto& problem : Problems<StepProfile>(R"(
layout: {data: -1, pipes: 2}
schedule: zigzag
forward: [{compute: {lognormal: {mean: x, cv: y}}}]
slowdown: {a: 1, 2: b}
)")) {
    fields.push_back(problem.field);
  }
  EXPECT_THAT(fields, ElementsAre("layout.data", "layout.pipes", "schedule",
                                  "forward[0].compute.lognormal.mean",
                                  "forward[0].compute.lognormal.cv",
                                  "slowdown[a]", "slowdown[2]"));
}

TEST(Document, TooLargeANumberDoesNotHideOtherProblems) {
  const auto problems =
      Problems<StepProfile>(R"({"transfer": 1e999, "optimizer": "x"})");
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[1].field, "optimizer");
}

TEST(Document, LongValuesAreCutInMessages) {
  const auto problems =
      Problems<Job>("parallelism: {sharding: " + std::string(5000, 'x') + "}");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_LT(problems[0].description.size(), 200u);
}

std::string Repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Document, DeepNestingIsRefused) {
  const std::string cases[] = {
      Repeat("[", 100000), Repeat("{\"a\":", 100000),
      "transfer: " + Repeat("[", 100) + Repeat("]", 100),
      "a: " + Repeat("- ", 5000)};
  for (const std::string& text : cases) {
    const auto problems = Problems<StepProfile>(text);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].field, "");
  }
}

TEST(Document, AliasBombIsRefused) {
  std::string text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 20; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" +
            Repeat(before + ", ", 9) + before + "]\n";
  }
  const auto problems = Problems<StepProfile>(text);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0].description,
              HasSubstr("holds more than 4000000 values"));
}

TEST(Document, SlowdownOfEveryRankOfALargeJobIsRead) {
  std::string text = "{\"slowdown\": {";
  constexpr int kRanks = 131072;
  for (int i = 0; i < kRanks; ++i) {
    text += (i ? ",\"" : "\"") + std::to_string(i) + "\": 1.0625";
  }
  const auto profile = Read<StepProfile>(text + "}}");
  EXPECT_EQ(profile.slowdown_size(), kRanks);
  EXPECT_EQ(profile.slowdown().at(kRanks - 1), 1.0625);
}

TEST(Document, TextThatLooksLikeSomethingElseIsQuoted) {
  for (const char* name : {"175",
                           "null",
                           "~",
                           "true",
                           "1e5",
                           ".inf",
                           "",
                           "a: b",
                           "- a",
                           "#x",
                           "a #b",
                           " a",
                           "a ",
                           "'",
                           "\"",
                           "\n",
                           "\t",
                           "*a",
                           "&a",
                           "!a",
                           "%a",
                           "@a",
                           "\x01",
                           "\x04",
                           "\x7f",
                           "\xc2\x85",
                           "\xe2\x80\xa8",
                           "\xf0\x9f\x98\x80",
                           "-",
                           "---",
                           "...",
                           ".",
                           "-1",
                           "0x10",
                           "yes"}) {
    Job job;
    job.set_name(name);
    EXPECT_EQ(Read<Job>(WriteYaml(job)).name(), job.name()) << WriteYaml(job);
    EXPECT_EQ(Read<Job>(WriteJson(job)).name(), job.name()) << WriteJson(job);
  }
}

TEST(Document, NumbersKeepTheirBits) {
  for (const double value :
       {0.0, -0.0, 0.1, 1e-300, 5e-324, 1.7976931348623157e308, 1e15, 1e16,
        123456789.125, 1.0 / 3, -2.5e-7, 4503599627370497.5}) {
    StepProfile profile;
    profile.mutable_transfer()->set_constant(value);
    for (const auto& text : {WriteYaml(profile), WriteJson(profile)}) {
      const double back = Read<StepProfile>(text).transfer().constant();
      EXPECT_EQ(back, value) << text;
      EXPECT_EQ(std::signbit(back), std::signbit(value)) << text;
    }
  }
}

TEST(Document, AnEmptyMessageIsAnEmptyMap) {
  EXPECT_EQ(WriteYaml(Job()), "{}\n");
  EXPECT_EQ(WriteJson(Job()), "{}\n");
  EXPECT_THAT(Problems<Job>("{}"), IsEmpty());
}

TEST(Document, YamlIsWrittenForPeople) {
  const std::string text =
      "name: gpt-22b\n"
      "model:\n"
      "  layers: 48\n"
      "  gated_ffn: true\n"
      "parallelism:\n"
      "  schedule: 1f1b\n";
  EXPECT_EQ(WriteYaml(Read<Job>(text)), text);
}

TEST(Document, ListsOfMapsBeginBesideTheirDash) {
  const std::string text =
      "forward:\n"
      "  - name: layer\n"
      "    compute:\n"
      "      mixture:\n"
      "        - weight: 1\n"
      "          distribution: 2.5\n"
      "    count: 4\n"
      "stage_scale: [1, 1.5]\n"
      "slowdown:\n"
      "  3: 1.25\n";
  EXPECT_EQ(WriteYaml(Read<StepProfile>(text)), text);
}

}  // namespace
}  // namespace prism::query
