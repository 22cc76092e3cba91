#include "client/import/golden_table.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "client/import/job_fields.h"
#include "core/query/document.h"

namespace prism::import {

std::string ReadSourceFile(const std::string& path) {
  std::ifstream file(absl::StrCat(PRISM_SOURCE_DIR, "/", path));
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<GoldenRow> ReadGoldenTable(const std::string& name) {
  std::istringstream lines(
      ReadSourceFile(absl::StrCat("tests/golden/import/", name)));
  std::vector<std::string> columns;
  std::vector<GoldenRow> rows;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> cells = absl::StrSplit(line, ',');
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    EXPECT_EQ(cells.size(), columns.size()) << line;
    rows.emplace_back();
    for (size_t i = 0; i < cells.size() && i < columns.size(); ++i)
      rows.back()[columns[i]] = cells[i];
  }
  EXPECT_FALSE(rows.empty()) << name;
  return rows;
}

Settings GoldenSettings(const std::string& cell) {
  base::Violations violations;
  const std::vector<std::string> texts =
      absl::StrSplit(cell, '|', absl::SkipEmpty());
  const Settings settings = Settings::Parse(texts, violations);
  EXPECT_TRUE(violations.empty()) << cell;
  return settings;
}

prism::v1::Job GoldenJob(const GoldenRow& row) {
  prism::v1::Job job;
  base::Violations violations;
  for (const auto& [column, cell] : row) {
    if (!cell.empty() && IsJobField(column))
      SetJobField(column, cell, job, violations);
  }
  EXPECT_TRUE(violations.empty()) << Descriptions(violations);
  return job;
}

std::string Documents(const std::vector<prism::v1::Job>& jobs) {
  std::string text;
  for (const prism::v1::Job& job : jobs) {
    absl::StrAppend(
        &text, absl::StrReplaceAll(query::WriteJson(job), {{"\n", " "}}), "\n");
  }
  return text;
}

std::string Fields(const base::Violations& violations) {
  std::string fields;
  for (const base::Violation& violation : violations.list()) {
    const std::string field =
        violation.field.empty() ? "file" : violation.field;
    absl::StrAppend(&fields, fields.empty() ? "" : ";",
                    absl::StrReplaceAll(field, {{" ", "_"}}));
  }
  return fields;
}

std::string Descriptions(const base::Violations& violations) {
  std::string text;
  for (const base::Violation& violation : violations.list())
    absl::StrAppend(&text, violation.description, "\n");
  return text;
}

}  // namespace prism::import
