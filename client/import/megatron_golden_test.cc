#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "client/import/golden_table.h"
#include "client/import/megatron.h"
#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "core/query/read_job.h"

namespace prism::import {
namespace {

constexpr char kFolder[] = "tests/data/job-specs/";

std::vector<std::string> Split(const std::string& cell) {
  return absl::StrSplit(cell, ' ', absl::SkipEmpty());
}

Imported Import(const GoldenRow& row, base::Violations& violations) {
  std::vector<SourceFile> files;
  for (const std::string& name : Split(row.at("files")))
    files.push_back({name, ReadSourceFile(absl::StrCat(kFolder, name))});
  return ImportMegatron(files, GoldenSettings(row.at("settings")), violations);
}

std::string CaseOf(const GoldenRow& row) {
  return absl::StrCat(row.at("files"), " with ", row.at("settings"));
}

TEST(MegatronGoldenTest, ScriptsGiveTheJobsOfTheTable) {
  const std::vector<GoldenRow> rows = ReadGoldenTable("megatron.csv");
  for (size_t i = 0; i < rows.size();) {
    const GoldenRow& first = rows[i];
    std::vector<prism::v1::Job> expected;
    for (; i < rows.size() && CaseOf(rows[i]) == CaseOf(first); ++i) {
      expected.push_back(GoldenJob(rows[i]));
      expected.back().set_name(rows[i].at("name"));
    }
    base::Violations violations;
    const Imported imported = Import(first, violations);
    EXPECT_EQ(Documents(imported.jobs), Documents(expected))
        << CaseOf(first) << "\n"
        << Descriptions(violations);
  }
}

TEST(MegatronGoldenTest, TheJobsOfTheTableAreValid) {
  for (const GoldenRow& row : ReadGoldenTable("megatron.csv")) {
    base::Violations violations;
    query::Checker checker(violations);
    query::ReadJob(GoldenJob(row), query::FieldPath("job"), checker);
    EXPECT_EQ(Fields(violations), "") << row.at("name") << "\n"
                                      << Descriptions(violations);
  }
}

TEST(MegatronGoldenTest, ScriptsThatAreNoJobSayWhy) {
  for (const GoldenRow& row : ReadGoldenTable("megatron_errors.csv")) {
    base::Violations violations;
    const Imported imported = Import(row, violations);
    EXPECT_EQ(Fields(violations), row.at("fields")) << CaseOf(row);
    EXPECT_THAT(Descriptions(violations), ::testing::HasSubstr(row.at("says")))
        << CaseOf(row);
    EXPECT_TRUE(imported.jobs.empty()) << CaseOf(row);
  }
}

TEST(MegatronGoldenTest, EveryScriptIsInATable) {
  std::set<std::string> named;
  for (const char* table : {"megatron.csv", "megatron_errors.csv"}) {
    for (const GoldenRow& row : ReadGoldenTable(table)) {
      for (const std::string& file : Split(row.at("files"))) named.insert(file);
    }
  }
  const std::filesystem::path folder =
      std::filesystem::path(PRISM_SOURCE_DIR) / kFolder;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".txt") continue;
    EXPECT_EQ(named.count(path.lexically_relative(folder).string()), 1u)
        << path;
  }
}

TEST(MegatronGoldenTest, ScriptsOfKnownOptionsGiveNoWarning) {
  base::Violations violations;
  const Imported imported =
      Import({{"files",
               "bigscience/tr13-mtf-smaller_models--tr13f-6b3-mtf-p31.slurm."
               "txt"},
              {"settings", ""}},
             violations);
  EXPECT_THAT(imported.warnings, ::testing::IsEmpty());
}

}  // namespace
}  // namespace prism::import
