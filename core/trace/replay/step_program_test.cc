#include "core/trace/replay/step_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace prism::trace {
namespace {

using ::testing::ElementsAre;

TEST(StepProgramTest, AnOperationStartsWhenAllBeforeItHaveEnded) {
  Dependencies all{{{0, 2}, {1, 2}}, {kAlone, kAlone, kAlone}, {}, {}};
  const auto program = StepProgram::Compile(all);
  ASSERT_TRUE(program.ok());
  std::vector<double> ends(3);
  EXPECT_EQ(program->Run(std::vector<double>{1, 5, 2}, ends), 7);
  EXPECT_THAT(ends, ElementsAre(1, 5, 7));
}

TEST(StepProgramTest, MembersOfAGroupBeginWithTheLastOfThem) {
  // 0 and 1 come before 2 and 3, which are a group; 4 follows 3.
  Dependencies all{{{0, 2}, {1, 3}, {3, 4}},
                   {kAlone, kAlone, 0, 0, kAlone},
                   {{2, 3}},
                   {false}};
  const auto program = StepProgram::Compile(all);
  ASSERT_TRUE(program.ok());
  std::vector<double> ends(5);
  EXPECT_EQ(program->Run(std::vector<double>{4, 1, 0.5, 1, 2}, ends), 7);
  EXPECT_THAT(ends, ElementsAre(4, 1, 4.5, 5, 7));
}

TEST(StepProgramTest, DelaysComeBeforeOperations) {
  Dependencies all{{{0, 1}}, {kAlone, kAlone}, {}, {}};
  const auto program = StepProgram::Compile(all);
  std::vector<double> ends(2);
  EXPECT_EQ(program->Run(std::vector<double>{1, 1}, ends,
                         std::vector<double>{0.5, 0.25}),
            2.75);
}

TEST(StepProgramTest, ACircleIsAnError) {
  // Each member of a group waits for what follows the other.
  Dependencies all{{{0, 2}, {2, 1}}, {0, 0, kAlone}, {{0, 1}}, {false}};
  EXPECT_EQ(StepProgram::Compile(all).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace prism::trace
