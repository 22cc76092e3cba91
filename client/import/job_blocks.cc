#include "client/import/job_blocks.h"

#include <map>
#include <string>

namespace prism::import {
namespace {

constexpr size_t kFewestNames = 3;
constexpr size_t kMostJobs = 256;

bool MayRepeat(const Statement& statement) {
  return statement.is_assignment() && !statement.is_list && !statement.appends;
}

// Positions of the assignments to names that are assigned more than once.
std::vector<size_t> Repeats(const std::vector<Statement>& statements) {
  std::map<std::string, int> counts;
  for (const Statement& statement : statements) {
    if (MayRepeat(statement)) ++counts[statement.name];
  }
  std::vector<size_t> repeats;
  for (size_t i = 0; i < statements.size(); ++i) {
    if (MayRepeat(statements[i]) && counts[statements[i].name] > 1)
      repeats.push_back(i);
  }
  return repeats;
}

// After how many of `repeats` the names begin again; 0 if they do not run
// through the same order each time.
size_t Period(const std::vector<Statement>& statements,
              const std::vector<size_t>& repeats) {
  const auto name = [&](size_t i) -> const std::string& {
    return statements[repeats[i]].name;
  };
  size_t period = 1;
  while (period < repeats.size() && name(period) != name(0)) ++period;
  if (period < kFewestNames || repeats.size() % period != 0) return 0;
  for (size_t i = period; i < repeats.size(); ++i) {
    if (name(i) != name(i - period)) return 0;
  }
  return period;
}

}  // namespace

std::vector<std::vector<Statement>> SplitJobs(
    const std::vector<Statement>& statements) {
  const std::vector<size_t> repeats = Repeats(statements);
  const size_t period = Period(statements, repeats);
  if (period == 0 || repeats.size() / period > kMostJobs) return {statements};
  std::vector<std::vector<Statement>> jobs(repeats.size() / period);
  size_t next = 0;
  for (size_t i = 0; i < statements.size(); ++i) {
    if (next < repeats.size() && repeats[next] == i) {
      jobs[next++ / period].push_back(statements[i]);
    } else {
      for (auto& job : jobs) job.push_back(statements[i]);
    }
  }
  return jobs;
}

}  // namespace prism::import
