#include "client/import/job_fields.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace prism::import {
namespace {

using ::testing::HasSubstr;

std::string Problem(const std::string& name, const std::string& text) {
  prism::v1::Job job;
  base::Violations violations;
  SetJobField(name, text, job, violations);
  return violations.empty() ? "" : violations.list()[0].description;
}

TEST(JobFieldsTest, SetsFieldsOfEveryKind) {
  prism::v1::Job job;
  base::Violations violations;
  SetJobField("layers", "96", job, violations);
  SetJobField("sequence_parallel", "true", job, violations);
  SetJobField("schedule", "1f1b", job, violations);
  SetJobField("fp32_gradients", "false", job, violations);
  EXPECT_TRUE(violations.empty());
  EXPECT_EQ(job.model().layers(), 96u);
  EXPECT_TRUE(job.parallelism().sequence_parallel());
  EXPECT_EQ(job.parallelism().schedule(),
            prism::v1::SCHEDULE_ONE_FORWARD_ONE_BACKWARD);
  EXPECT_TRUE(job.training().has_fp32_gradients());
}

TEST(JobFieldsTest, SetsListsAndPartsOfOverlap) {
  prism::v1::Job job;
  base::Violations violations;
  SetJobField("stage_layers", "7 7", job, violations);
  SetJobField("stage_layers", "0,2, 1", job, violations);
  SetJobField("overlap.gradients", "true", job, violations);
  EXPECT_TRUE(violations.empty());
  EXPECT_THAT(job.parallelism().stage_layers(),
              ::testing::ElementsAre(0u, 2u, 1u));
  EXPECT_TRUE(job.parallelism().overlap().gradients());
  EXPECT_FALSE(job.parallelism().overlap().has_parameters());
}

TEST(JobFieldsTest, SaysWhatIsAccepted) {
  EXPECT_THAT(Problem("stage_layers", "1,-1"), HasSubstr("numbers from 0"));
  EXPECT_THAT(Problem("overlap.tensor", "1"), HasSubstr("true or false"));
  EXPECT_THAT(Problem("layers", "0"), HasSubstr("a whole number from 1"));
  EXPECT_THAT(Problem("layers", "many"), HasSubstr("a whole number from 1"));
  EXPECT_THAT(Problem("gated_ffn", "yes"), HasSubstr("true or false"));
  EXPECT_THAT(Problem("sharding", "zero4"), HasSubstr("none, zero1"));
}

TEST(JobFieldsTest, KnowsItsFields) {
  EXPECT_TRUE(IsJobField("global_batch"));
  EXPECT_TRUE(IsJobField("overlap.pipeline"));
  EXPECT_FALSE(IsJobField("overlap"));
  EXPECT_FALSE(IsJobField("overlap.none"));
  EXPECT_FALSE(IsJobField("name"));
  EXPECT_FALSE(IsJobField("hidden_size"));
}

TEST(JobFieldsTest, NamesAreUniqueOverTheParts) {
  std::set<std::string> names;
  for (const auto* part :
       {prism::v1::Model::descriptor(), prism::v1::Parallelism::descriptor(),
        prism::v1::Training::descriptor()}) {
    for (int i = 0; i < part->field_count(); ++i)
      EXPECT_TRUE(names.insert(part->field(i)->name()).second);
  }
}

}  // namespace
}  // namespace prism::import
