#include "client/import/trace_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "client/import/import_command.h"
#include "client/prismctl/command_run.h"
#include "core/base/violations.h"
#include "core/query/document.h"
#include "prism/v1/step_profile.pb.h"

namespace prism::import {
namespace {

using prismctl::CommandRun;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Data(const std::string& name) {
  return std::string(PRISM_SOURCE_DIR) + "/tests/data/straggler-whatif/" + name;
}

CommandRun Import(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "trace");
  return prismctl::RunOne(ImportCommand(), std::move(arguments));
}

prism::v1::StepProfile Read(const CommandRun& run) {
  EXPECT_EQ(run.code, prismctl::kAnswered) << run.err;
  prism::v1::StepProfile profile;
  base::Violations violations;
  query::ReadDocument(run.out, &profile, violations);
  EXPECT_TRUE(violations.empty());
  return profile;
}

TEST(TraceCommandTest, TheSlowWorkerIsASlowRankOfTheProfile) {
  const CommandRun run = Import({Data("trace-AR.csv")});
  const prism::v1::StepProfile profile = Read(run);
  EXPECT_EQ(profile.name(), "trace-AR");
  EXPECT_EQ(profile.layout().data(), 4);
  EXPECT_EQ(profile.layout().pipeline(), 4);
  EXPECT_EQ(profile.layout().microbatches(), 32);
  EXPECT_EQ(profile.schedule(), prism::v1::SCHEDULE_ONE_FORWARD_ONE_BACKWARD);
  ASSERT_TRUE(profile.slowdown().contains(0));
  // Forwards take 2.5 times, backwards 2.3 times those of the other replicas.
  EXPECT_NEAR(profile.slowdown().at(0), 2.35, 0.05);
  EXPECT_TRUE(profile.has_microbatch_load());
  EXPECT_THAT(run.err, HasSubstr("load of a micro-batch"));
}

TEST(TraceCommandTest, TheLastStageIsTheLongestOfTheProfile) {
  const prism::v1::StepProfile profile = Read(Import({Data("trace-ST.csv")}));
  ASSERT_EQ(profile.stage_scale_size(), 4);
  EXPECT_NEAR(profile.stage_scale(3) / profile.stage_scale(0), 1.63, 0.02);
}

TEST(TraceCommandTest, TheProfileAnswersAsTheStepsRecorded) {
  for (const char* trace : {"trace-AR.csv", "trace-ST.csv"}) {
    const std::string notes = Import({Data(trace)}).err;
    // "as a profile 2.217 s on average, p95 2.296 s: +0.13% and +0.32%"
    double mean = 100, p95 = 100;
    const size_t at = notes.rfind(": ");
    ASSERT_EQ(std::sscanf(notes.c_str() + at, ": %lf%% and %lf%%", &mean, &p95),
              2)
        << notes;
    EXPECT_LT(std::abs(mean), 0.5) << trace;
    EXPECT_LT(std::abs(p95), 1) << trace;
  }
}

TEST(TraceCommandTest, DistributionsAreOfTheFamilyAskedFor) {
  const auto load = [](const char* family) {
    return Read(Import({Data("trace-ST.csv"), "--fit", family}))
        .microbatch_load();
  };
  EXPECT_TRUE(load("empirical").has_empirical());
  EXPECT_TRUE(load("normal").has_normal());
  EXPECT_TRUE(load("gamma").has_gamma());
  EXPECT_TRUE(load("lognormal").has_lognormal());
  EXPECT_TRUE(load("shifted-exponential").has_shifted_exponential());
  EXPECT_FALSE(load("best").has_empirical());
  EXPECT_THAT(Import({Data("trace-ST.csv"), "--fit", "gamma"}).err,
              AllOf(HasSubstr("gamma, Kolmogorov-Smirnov distance 0."),
                    HasSubstr("as a profile")));
}

TEST(TraceCommandTest, WrongInputIsSaidAndNothingWritten) {
  const CommandRun missing = Import({"/no/such/trace.csv"});
  EXPECT_EQ(missing.code, prismctl::kWrongInput);
  EXPECT_THAT(missing.out, IsEmpty());
  EXPECT_THAT(missing.err, HasSubstr("/no/such/trace.csv"));
  const CommandRun family = Import({Data("trace-ST.csv"), "--fit", "cauchy"});
  EXPECT_EQ(family.code, prismctl::kUsageError);
  EXPECT_THAT(family.err, HasSubstr("must be one of empirical, normal"));
}

}  // namespace
}  // namespace prism::import
