#include "client/validate/fit_record.h"

#include <gtest/gtest.h>

#include <string>

#include "client/validate/csv.h"
#include "client/validate/readers.h"

namespace prism::validate {
namespace {

Measured Row(const std::string& name, const std::string& family, double value) {
  Measured row;
  row.name = name;
  row.family = family;
  row.value = value;
  return row;
}

Measurements Repository() {
  Measurements repository;
  repository.sources.push_back(
      {.name = "S", .rows = {Row("a", "x", 1), Row("b", "y", 2)}});
  repository.sources.push_back({.name = "T", .rows = {Row("a", "x", 1)}});
  return repository;
}

TEST(FitRecordTest, AFamilyOrAWholeSourceWasUsed) {
  const FitRecord family("source,family\nS,x\n", Repository());
  EXPECT_TRUE(family.Used("S", Row("a", "x", 1)));
  EXPECT_FALSE(family.Used("S", Row("b", "y", 2)));
  EXPECT_FALSE(family.Used("T", Row("a", "x", 1)));
  const FitRecord whole("source,family\nS,\n", Repository());
  EXPECT_TRUE(whole.Used("S", Row("a", "x", 1)));
  EXPECT_TRUE(whole.Used("S", Row("b", "y", 2)));
  EXPECT_FALSE(whole.Used("T", Row("a", "x", 1)));
}

TEST(FitRecordTest, RowsFromElsewhereWereNeverUsed) {
  const FitRecord record("source,family\nS,\n", Repository());
  EXPECT_FALSE(record.Used("S", Row("a", "x", 1.5)));
  EXPECT_FALSE(record.Used("S", Row("c", "x", 1)));
}

TEST(FitRecordTest, WithoutARecordNothingWasUsed) {
  EXPECT_FALSE(FitRecord("", Repository()).Used("S", Row("a", "x", 1)));
}

// A source or family of the record that was renamed would pass for unfitted.
TEST(FitRecordTest, EveryLineOfTheRepositorysRecordNamesRows) {
  const auto folder = RepositoryFolder();
  const Measurements found = ReadFolder(*folder);
  base::Violations wrong;
  ForEachRow(
      "fitted.csv", folder->Read("fitted.csv").value(), {"source", "family"},
      [&](CsvRow& line) {
        const std::string family = line.TextOr("family", "");
        int rows = 0;
        for (const Source& source : found.sources) {
          if (source.name != line.Text("source")) continue;
          for (const Measured& row : source.rows) {
            rows += family.empty() || row.family == family;
          }
        }
        EXPECT_GT(rows, 0) << line.place();
      },
      wrong);
  EXPECT_TRUE(wrong.empty());
}

}  // namespace
}  // namespace prism::validate
