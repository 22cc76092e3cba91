#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/import/golden_table.h"
#include "client/import/huggingface.h"
#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "core/query/read_job.h"

namespace prism::import {
namespace {

Imported Import(const GoldenRow& row, base::Violations& violations) {
  const std::string& file = row.at("file");
  return ImportHuggingFace(
      {file, ReadSourceFile(absl::StrCat("tests/data/huggingface/", file))},
      GoldenSettings(row.at("settings")), violations);
}

// Weights and biases of the linear layers and tables; norms are left out.
double Parameters(const prism::v1::Model& model) {
  const double hidden = model.hidden();
  const double attention = 1.0 * model.heads() * model.head_size();
  const double key_value = 1.0 * model.kv_heads() * model.head_size();
  const double ffn = model.ffn_hidden();
  const double matrices = hidden * (2 * attention + 2 * key_value) +
                          (model.gated_ffn() ? 3 : 2) * hidden * ffn;
  const double biases = attention + 2 * key_value + 2 * hidden + ffn;
  const double tables = model.untied_embeddings() ? 2 : 1;
  return model.layers() * (matrices + (model.linear_bias() ? biases : 0)) +
         hidden * (tables * model.vocabulary() + model.position_embeddings());
}

TEST(HuggingFaceGoldenTest, FilesGiveTheJobsOfTheTable) {
  for (const GoldenRow& row : ReadGoldenTable("huggingface.csv")) {
    prism::v1::Job expected = GoldenJob(row);
    expected.set_name(NameFromFile(row.at("file")));
    base::Violations violations;
    const Imported imported = Import(row, violations);
    EXPECT_EQ(Documents(imported.jobs), Documents({expected}))
        << row.at("file") << "\n"
        << Descriptions(violations);
  }
}

TEST(HuggingFaceGoldenTest, JobsHaveThePublishedNumberOfParameters) {
  for (const GoldenRow& row : ReadGoldenTable("huggingface.csv")) {
    double published = 0;
    ASSERT_TRUE(absl::SimpleAtod(row.at("parameters"), &published));
    base::Violations violations;
    const Imported imported = Import(row, violations);
    ASSERT_EQ(imported.jobs.size(), 1u) << row.at("file");
    EXPECT_NEAR(Parameters(imported.jobs[0].model()) / published, 1, 0.005)
        << row.at("file");
  }
}

TEST(HuggingFaceGoldenTest, TheJobsOfTheTableAreValid) {
  for (const GoldenRow& row : ReadGoldenTable("huggingface.csv")) {
    base::Violations violations;
    query::Checker checker(violations);
    query::ReadJob(GoldenJob(row), query::FieldPath("job"), checker);
    EXPECT_EQ(Fields(violations), "") << row.at("file") << "\n"
                                      << Descriptions(violations);
  }
}

TEST(HuggingFaceGoldenTest, FilesThatAreNoJobSayWhy) {
  for (const GoldenRow& row : ReadGoldenTable("huggingface_errors.csv")) {
    base::Violations violations;
    const Imported imported = Import(row, violations);
    EXPECT_EQ(Fields(violations), row.at("fields")) << row.at("file");
    EXPECT_THAT(Descriptions(violations), ::testing::HasSubstr(row.at("says")))
        << row.at("file");
    EXPECT_TRUE(imported.jobs.empty()) << row.at("file");
  }
}

}  // namespace
}  // namespace prism::import
