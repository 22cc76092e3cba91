#include "client/prismctl/trace_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace prism::prismctl {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr char kRows[] =
    "dp_rank,stage,step,optype,start_ts,duration\n0,0,1,gc,0,1\n";

// A folder of this test alone, empty.
class TraceFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  std::string ErrorOf(const std::string& path) {
    return std::string(OpenTrace(path, damage_).status().message());
  }

  std::filesystem::path folder_;
  trace::DamageLog damage_;
};

TEST_F(TraceFilesTest, SizesComeFromTheYamlOfTheSameName) {
  const std::string rows = Write("trace-A.csv", kRows);
  Write("meta-A.yaml", "dp_size: 3\n");
  Write("meta-B.yaml", "dp_size: 7\n");
  const auto file = OpenTrace(rows, damage_);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->trace->sizes().data, 3);
  EXPECT_TRUE(damage_.empty());
}

TEST_F(TraceFilesTest, AFolderStandsForItsOnlyTraceAndYaml) {
  Write("rows.csv", kRows);
  Write("meta.yml", "dp_size: 3\n");
  const auto file = OpenTrace(folder_.string(), damage_);
  ASSERT_TRUE(file.ok());
  EXPECT_THAT(file->path, EndsWith("rows.csv"));
  EXPECT_EQ(file->trace->sizes().data, 3);
}

TEST_F(TraceFilesTest, WithoutAYamlTheRowsShowTheSizes) {
  const auto file = OpenTrace(Write("rows.csv", kRows), damage_);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->trace->sizes().data, 1);
  ASSERT_EQ(damage_.entries().size(), 1);
  EXPECT_THAT(damage_.entries()[0].file, "rows.csv");
}

TEST_F(TraceFilesTest, ADamagedYamlIsNamed) {
  const std::string rows = Write("trace-A.csv", kRows);
  Write("meta-A.yaml", "dp_size: [\n");
  ASSERT_TRUE(OpenTrace(rows, damage_).ok());
  EXPECT_THAT(damage_.entries()[0].file, "meta-A.yaml");
}

TEST_F(TraceFilesTest, WhatIsNoTraceIsSaid) {
  EXPECT_THAT(ErrorOf((folder_ / "none").string()),
              HasSubstr("does not exist"));
  EXPECT_THAT(ErrorOf(folder_.string()), HasSubstr("holds no CSV file"));
  EXPECT_THAT(ErrorOf(Write("a.csv", "")), HasSubstr("no rows"));
  EXPECT_THAT(ErrorOf(Write("b.csv", "x,y\n1,2\n")),
              HasSubstr("columns dp_rank, stage"));
  EXPECT_THAT(ErrorOf(folder_.string()), HasSubstr("a.csv, b.csv"));
}

}  // namespace
}  // namespace prism::prismctl
