#include "core/query/read_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/violations.h"
#include "core/query/document.h"
#include "core/query/read_profile.h"

namespace prism::query {
namespace {

using step::Operation;
using step::Phase;
using step::ScheduleKind;
using step::StepProfile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto F = Phase::kForward, B = Phase::kBackward;
constexpr auto I = Phase::kBackwardInput, W = Phase::kBackwardWeight;

// The parts of a backward, of two segments and of one.
constexpr const char* kParts =
    "backward_input: [{compute: 1}, {compute: 2}]\n"
    "backward_weight: [{compute: 3}]\n";
constexpr const char* kWhole = "backward: [{compute: 2}]\n";

struct Reading {
  StepProfile profile;
  std::vector<base::Violation> problems;
};

Reading ReadText(const std::string& yaml) {
  base::Violations violations;
  prism::v1::StepProfile message;
  ReadDocument("forward: [{compute: 1}]\n" + yaml, &message, violations);
  Reading reading;
  if (violations.empty()) {
    Checker checker(violations);
    reading.profile = ReadProfile(message, FieldPath("profile"), checker);
  }
  reading.problems = violations.list();
  return reading;
}

StepProfile Read(const std::string& yaml) {
  Reading reading = ReadText(yaml);
  for (const auto& problem : reading.problems) {
    ADD_FAILURE() << problem.field << " " << problem.description;
  }
  return reading.profile;
}

struct NamedCase {
  const char* name;
  ScheduleKind kind;
  int chunks;
  bool parts;
};

class NamedScheduleTest : public testing::TestWithParam<NamedCase> {};

TEST_P(NamedScheduleTest, IsReadAndHasAnOrder) {
  const auto& [name, kind, chunks, parts] = GetParam();
  const StepProfile profile = Read(
      std::string("schedule: ") + name +
      "\nlayout: {pipeline: 4, microbatches: 8}\n" + (parts ? kParts : kWhole));
  EXPECT_EQ(profile.schedule, kind);
  EXPECT_EQ(NameOf(kind), name);
  EXPECT_EQ(profile.virtual_stages, chunks);
  const auto order = OrderOf(profile);
  ASSERT_TRUE(order.ok()) << order.status();
  EXPECT_TRUE(Validate(*order).ok());
}

INSTANTIATE_TEST_SUITE_P(
    Each, NamedScheduleTest,
    testing::Values(
        NamedCase{"gpipe", ScheduleKind::kGpipe, 1, false},
        NamedCase{"1f1b", ScheduleKind::kOneForwardOneBackward, 1, false},
        NamedCase{"interleaved", ScheduleKind::kInterleaved, 1, false},
        NamedCase{"breadth-first", ScheduleKind::kBreadthFirst, 1, false},
        NamedCase{"zb-h1", ScheduleKind::kZeroBubbleH1, 1, true},
        NamedCase{"zb-h2", ScheduleKind::kZeroBubbleH2, 1, true},
        NamedCase{"zb-v", ScheduleKind::kZeroBubbleV, 2, true},
        NamedCase{"v-half", ScheduleKind::kHalfMemoryV, 2, true},
        NamedCase{"v-min", ScheduleKind::kThirdMemoryV, 2, true},
        NamedCase{"dualpipe", ScheduleKind::kDualPipe, 2, true},
        NamedCase{"dualpipe-v", ScheduleKind::kDualPipeV, 2, true},
        NamedCase{"zb-auto", ScheduleKind::kAutomatic, 1, true}),
    [](const auto& test) { return "Schedule" + std::to_string(test.index); });

// Parts that are never run apart are one backward, in a row.
TEST(ReadBackwardTest, PartsOfAnUnsplitScheduleAreOneBackward) {
  const StepProfile profile = Read(kParts);
  ASSERT_EQ(profile.backward.size(), 3u);
  EXPECT_EQ(profile.backward[2].compute.StatedMean(), 3);
  EXPECT_THAT(profile.backward_input, IsEmpty());
  EXPECT_THAT(profile.backward_weight, IsEmpty());
}

TEST(ReadOrderTest, ACustomOrderIsReadByStageAndChunk) {
  const StepProfile profile = Read(std::string(R"(
schedule: custom
layout: {pipeline: 2, virtual: 2, microbatches: 1}
stage_of: [0, 1, 1, 0]
order:
- operations: [F0, F0.1, B0.1, B0, W0]
- operations: [F0, F0.1, B0.1, B0.0, W0.1]
)") + kParts);
  EXPECT_THAT(profile.stage_of, ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(
      profile.order[0],
      ElementsAre(Operation{F, 0, 0}, Operation{F, 3, 0}, Operation{B, 3, 0},
                  Operation{I, 0, 0}, Operation{W, 0, 0}));
  EXPECT_EQ(profile.order[1][2], (Operation{I, 2, 0}));
  EXPECT_EQ(profile.order[1][3], (Operation{B, 1, 0}));
}

TEST(ReadOrderTest, WhatIsTheDefaultIsNotKept) {
  const StepProfile profile = Read(std::string(R"(
schedule: custom
layout: {pipeline: 2}
stage_of: [0, 1]
order: [{operations: [F0, B0]}, {operations: [F0, B0]}]
)") + kWhole);
  EXPECT_THAT(profile.stage_of, IsEmpty());
  EXPECT_FALSE(Read(std::string("schedule: zb-auto\nactivation_limit: 2\n"
                                "layout: {pipeline: 3, microbatches: 2}\n") +
                    kParts)
                   .activation_limit.has_value());
}

struct WrongCase {
  std::string yaml;
  std::string field;
  std::string description;
};

class WrongOrderTest : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongOrderTest, IsNamed) {
  const Reading reading = ReadText(GetParam().yaml);
  std::string all;
  for (const auto& problem : reading.problems) {
    all += problem.field + " " + problem.description + "\n";
  }
  EXPECT_THAT(all, HasSubstr(GetParam().field + " " + GetParam().description));
}

std::string Custom(const std::string& first, const std::string& second) {
  return std::string(kWhole) +
         "schedule: custom\nlayout: {pipeline: 2, microbatches: 2}\n"
         "order: [{operations: [" +
         first + "]}, {operations: [" + second + "]}]\n";
}

INSTANTIATE_TEST_SUITE_P(
    Backward, WrongOrderTest,
    testing::Values(WrongCase{std::string(kWhole) + kParts, "profile.backward",
                              "is given beside its parts; must be left out"},
                    WrongCase{std::string(kWhole) + "schedule: zb-h1",
                              "profile.backward",
                              "is given; must be given as backward_input and "
                              "backward_weight for the zb-h1 schedule"},
                    WrongCase{std::string(kWhole) + "schedule: zb-h1",
                              "profile.backward_weight",
                              "is missing; must have at least one segment"},
                    WrongCase{"backward_input: [{compute: 1}]",
                              "profile.backward_weight", "is missing"},
                    WrongCase{Custom("F0, B0, W0, F1, B1", "F0, B0, F1, B1"),
                              "profile.backward",
                              "is given; must be given as backward_input"}));

INSTANTIATE_TEST_SUITE_P(
    Custom, WrongOrderTest,
    testing::Values(
        WrongCase{"schedule: custom", "profile.order",
                  "has 0 stages; must have one for each of the 1"},
        WrongCase{Custom("F0, X0", "F0"), "profile.order[0].operations[1]",
                  "is \"X0\"; must be F, B or W with a micro-batch"},
        WrongCase{Custom("F0", "B, F0.0.0"), "profile.order[1].operations[0]",
                  "is \"B\"; must be"},
        WrongCase{Custom("F0", "B, F0.0.0"), "profile.order[1].operations[1]",
                  "is \"F0.0.0\"; must be"},
        WrongCase{Custom("F2", "F0"), "profile.order[0].operations[0]",
                  "is of micro-batch 2; must be one of the 2"},
        WrongCase{Custom("F0.1", "F0"), "profile.order[0].operations[0]",
                  "is on chunk 1; must be on one of the 1 of stage 0"},
        WrongCase{Custom("F0, F0, B0", "F0"), "profile.order[0].operations[1]",
                  "is \"F0\"; must come once"},
        WrongCase{Custom("B0, F0", "F0"), "profile.order[0].operations[0]",
                  "is \"B0\"; must come once, F before B before W"},
        WrongCase{Custom("F0, F1, B0, B1", "F0, F1, B0"), "profile.order",
                  "cannot run: pipeline order: stage 1: backward of "
                  "micro-batch 1 on virtual stage 1 is missing"},
        WrongCase{Custom("F0, B0, F1, B1", "F0, F1, B0, B1"), "profile.order",
                  "cannot run: pipeline order: stages wait for each other"},
        WrongCase{Custom("F0", "F0") + "stage_of: [0, 2]",
                  "profile.stage_of[1]", "is 2; must be from 0 to 1"},
        WrongCase{Custom("F0", "F0") + "stage_of: [0]", "profile.stage_of",
                  "has 1 stages; must have one for each of the 2"}));

INSTANTIATE_TEST_SUITE_P(
    Others, WrongOrderTest,
    testing::Values(
        WrongCase{std::string(kWhole) + "order: [{operations: [F0]}]",
                  "profile.order",
                  "is given; must be left out unless schedule is custom"},
        WrongCase{std::string(kWhole) + "stage_of: [0]", "profile.stage_of",
                  "is given; must be left out unless schedule is custom"},
        WrongCase{std::string(kWhole) + "activation_limit: 3",
                  "profile.activation_limit",
                  "is given; must be left out unless schedule is zb-auto"},
        WrongCase{std::string(kParts) +
                      "schedule: zb-auto\n"
                      "layout: {pipeline: 64, microbatches: 1025}",
                  "profile.layout",
                  "has 65600 micro-batches times virtual stages; must be at "
                  "most 65536 for the zb-auto schedule"},
        WrongCase{
            std::string(kParts) + "schedule: zb-auto\nactivation_limit: 0.5",
            "profile.activation_limit", "is 0.5; must be at least 1"},
        WrongCase{std::string(kParts) + "schedule: zb-v\nlayout: {virtual: 1}",
                  "profile.layout.virtual",
                  "is 1; must be 2 for the zb-v schedule"},
        WrongCase{std::string(kParts) +
                      "schedule: dualpipe\n"
                      "layout: {pipeline: 3, microbatches: 8}",
                  "profile.layout.pipeline",
                  "is 3; must be even for the dualpipe schedule"}));

}  // namespace
}  // namespace prism::query
