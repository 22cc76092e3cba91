// Step profiles whose steps follow each other without a flush, from the
// document to the answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/query/canonical_form.h"
#include "core/query/document.h"
#include "core/query/question.h"
#include "core/step/simulate.h"

namespace prism::query {
namespace {

using testing::HasSubstr;

// `lines` of a profile beside its segments.
prism::v1::Question Parse(const std::string& lines) {
  prism::v1::Question message;
  base::Violations violations;
  ReadDocument(
      "profile:\n  forward: [{compute: 1}]\n"
      "  backward: [{compute: 2}]\n" +
          lines,
      &message, violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return message;
}

Question Read(const std::string& lines) {
  base::Violations violations;
  auto question = ReadQuestion(Parse(lines), "", violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return question.value_or(Question());
}

double NominalMilliseconds(const std::string& lines) {
  const Question question = Read(lines);
  const auto step = step::SimulateNominal(
      step::BuildGraph(std::get<step::StepProfile>(question.subject)));
  EXPECT_TRUE(step.ok()) << step.status();
  return step.ok() ? 1e3 * step->seconds : 0;
}

TEST(ContinuousProfileTest, StepsTakeTheStatedPeriod) {
  const std::string rest =
      "  layout: {pipeline: 4, microbatches: 8}\n  optimizer: 0.5\n";
  EXPECT_NEAR(NominalMilliseconds("  schedule: 2bw\n" + rest), 24.5, 1e-9);
  EXPECT_NEAR(NominalMilliseconds("  schedule: bubble-free\n" + rest), 24.5,
              1e-9);
}

TEST(ContinuousProfileTest, WorkersUploadWhatTheyRunNext) {
  const auto lines = [](const std::string& upload) {
    return "  schedule: round-robin\n  stage_scale: [2, 2, 2, 2]\n"
           "  layout: {pipeline: 2, virtual: 2, microbatches: 8}\n"
           "  weight_upload: " +
           upload + "\n";
  };
  // Executions of 16 and 32 ms in turns of two.
  EXPECT_NEAR(NominalMilliseconds(lines("8")), 96, 1e-9);
  EXPECT_NEAR(NominalMilliseconds(lines("32")), 128, 1e-9);
  const auto step = step::SimulateNominal(
      step::BuildGraph(std::get<step::StepProfile>(Read(lines("8")).subject)));
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(step->by_kind.count("parameter_upload"), 1u);
}

struct WrongCase {
  std::string lines;
  std::string field;
  std::string description;
};

class WrongContinuousProfile : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongContinuousProfile, IsRefused) {
  base::Violations violations;
  EXPECT_FALSE(ReadQuestion(Parse(GetParam().lines), "", violations));
  ASSERT_EQ(violations.list().size(), 1u);
  EXPECT_EQ(violations.list()[0].field, GetParam().field);
  EXPECT_THAT(violations.list()[0].description,
              HasSubstr(GetParam().description));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, WrongContinuousProfile,
    testing::Values(
        WrongCase{"  schedule: 2bw\n  layout: {pipeline: 4, microbatches: 3}\n",
                  "profile.layout.microbatches",
                  "is 3; must be at least the 4 stages for the 2bw schedule"},
        WrongCase{"  schedule: bubble-free\n  layout: {pipeline: 2, "
                  "virtual: 2}\n",
                  "profile.layout.virtual",
                  "is 2; must be 1 for the bubble-free schedule"},
        WrongCase{"  weight_upload: 3\n", "profile.weight_upload",
                  "must be left out unless schedule is round-robin"},
        WrongCase{"  schedule: bubble-free\n  layout: {microbatches: 65536}\n",
                  "profile.layout",
                  "in the 2 steps that are simulated for one"}));

TEST(ContinuousProfileTest, TheFormHoldsTheUploadWhereThereIsOne) {
  const std::string lines = "  schedule: round-robin\n";
  const std::string form = CanonicalForm(Read(lines));
  EXPECT_EQ(CanonicalForm(Read(lines + "  weight_upload: 0\n")), form);
  EXPECT_NE(CanonicalForm(Read(lines + "  weight_upload: 1\n")), form);
  EXPECT_NE(CanonicalForm(Read("  schedule: bubble-free\n")), form);
}

}  // namespace
}  // namespace prism::query
