// Golden tables of the tests: CSV without quotes, "#" lines are comments.
#ifndef PRISM_CLIENT_IMPORT_GOLDEN_TABLE_H_
#define PRISM_CLIENT_IMPORT_GOLDEN_TABLE_H_

#include <map>
#include <string>
#include <vector>

#include "client/import/imported.h"
#include "client/import/settings.h"
#include "core/base/violations.h"
#include "prism/v1/job.pb.h"

namespace prism::import {

// Column name -> cell.
using GoldenRow = std::map<std::string, std::string>;

// The rows of tests/golden/import/`name`.
std::vector<GoldenRow> ReadGoldenTable(const std::string& name);

// The text of a file, by its path in the source tree.
std::string ReadSourceFile(const std::string& path);

// "A=1|B=2" as settings.
Settings GoldenSettings(const std::string& cell);

// The job that the columns named like fields of a job describe.
prism::v1::Job GoldenJob(const GoldenRow& row);

// `jobs` as JSON, one a line, so that a failed comparison can be read.
std::string Documents(const std::vector<prism::v1::Job>& jobs);

// The fields of `violations` as the tables write them.
std::string Fields(const base::Violations& violations);

// All descriptions, a line each.
std::string Descriptions(const base::Violations& violations);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_GOLDEN_TABLE_H_
