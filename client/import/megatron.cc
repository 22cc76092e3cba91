#include "client/import/megatron.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "client/import/job_blocks.h"
#include "client/import/launch_options.h"
#include "client/import/megatron_job.h"
#include "client/import/megatron_options.h"
#include "client/import/option_reader.h"
#include "client/import/shell_script.h"
#include "client/import/shell_variables.h"

namespace prism::import {
namespace {

// Options without which a script is none of Megatron's.
constexpr std::array<const char*, 6> kCoreOptions = {
    "num-layers",          "hidden-size", "micro-batch-size",
    "num-attention-heads", "seq-length",  "tensor-model-parallel-size"};

using Directives = std::vector<std::pair<std::string, std::string>>;

// "gpu:8" and "gpu:a100:8" as "8".
std::string LastNumber(const std::string& value) {
  const std::string number = value.substr(value.find_last_of(':') + 1);
  int unused = 0;
  return absl::SimpleAtoi(number, &unused) ? number : "";
}

// What Slurm sets for a job with these directives.
std::map<std::string, std::string> SlurmVariables(
    const Directives& directives) {
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : directives) {
    const std::string number = LastNumber(value);
    if (number.empty()) continue;
    if (name == "nodes") {
      variables["SLURM_NNODES"] = variables["SLURM_JOB_NUM_NODES"] = number;
    } else if (name == "gpus-per-node" ||
               (name == "gres" && value.substr(0, 4) == "gpu:")) {
      variables["SLURM_GPUS_PER_NODE"] = number;
      variables["SLURM_GPUS_ON_NODE"] = number;
    } else if (name == "ntasks-per-node") {
      variables["SLURM_NTASKS_PER_NODE"] = number;
    }
  }
  return variables;
}

bool Matters(const std::string& option) {
  const OptionRule* rule = FindRule(option);
  return rule != nullptr && rule->use != OptionUse::kIgnored &&
         rule->use != OptionUse::kLeftOut;
}

bool HoldsOptionsThatMatter(const std::string& text) {
  const std::vector<std::string> names = OptionNames(text);
  return std::any_of(names.begin(), names.end(), Matters);
}

// Collects things to say, each once, in order.
class List {
 public:
  void Add(const std::string& text) {
    if (seen_.insert(text).second) texts_.push_back(text);
  }
  bool empty() const { return texts_.empty(); }
  std::string Join() const { return absl::StrJoin(texts_, ", "); }

 private:
  std::vector<std::string> texts_;
  std::set<std::string> seen_;
};

class Importer {
 public:
  Importer(const std::vector<SourceFile>& files, const Settings& settings)
      : settings_(settings), name_(NameFromFile(files.back().name)) {
    for (const SourceFile& file : files) {
      Script script = ParseScript(file.text);
      std::move(script.statements.begin(), script.statements.end(),
                std::back_inserter(statements_));
      std::move(script.directives.begin(), script.directives.end(),
                std::back_inserter(directives_));
    }
    for (const auto& [name, value] : directives_) {
      if (name == "job-name" && !value.empty()) name_ = NameFromFile(value);
    }
  }

  Imported Import(base::Violations& violations) && {
    const auto blocks = SplitJobs(statements_);
    Imported imported;
    for (size_t i = 0; i < blocks.size(); ++i) {
      imported.jobs.push_back(ReadJob(blocks[i]));
      std::string name = name_;
      if (blocks.size() > 1) absl::StrAppend(&name, "-", i + 1);
      imported.jobs.back().set_name(name);
    }
    for (const base::Violation& violation : found_)
      violations.Add(violation.field, violation.description);
    if (!found_.empty()) imported.jobs.clear();
    imported.warnings = Warnings();
    return imported;
  }

 private:
  prism::v1::Job ReadJob(const std::vector<Statement>& statements) {
    const ShellVariables variables(statements, SlurmVariables(directives_),
                                   settings_);
    LaunchOptions options = LaunchOptions::Collect(statements, variables);
    for (const auto& [name, value] : settings_.all()) {
      if (FindRule(name) == nullptr) continue;
      settings_.Find(name);
      options.Override(name, value);
    }
    base::Violations violations;
    prism::v1::Job job;
    const OptionReader reader(options, variables, violations);
    FindRefused(options, reader, violations);
    if (violations.empty()) {
      FindAmbiguous(statements, variables, violations);
      if (IsMegatron(options, violations)) {
        job = ReadMegatronJob(reader, violations);
        Remark(options);
      }
    }
    Keep(violations);
    return job;
  }

  static bool IsMegatron(const LaunchOptions& options,
                         base::Violations& violations) {
    for (const char* name : kCoreOptions) {
      if (options.Find(name) != nullptr) return true;
    }
    violations.Add(
        "", absl::StrCat("holds no launch options of Megatron-LM, such as --",
                         kCoreOptions[0],
                         "; if it only sets variables, give the file that "
                         "uses them too"));
    return false;
  }

  static void FindRefused(const LaunchOptions& options,
                          const OptionReader& reader,
                          base::Violations& violations) {
    for (const std::string& name : options.Names()) {
      const OptionRule* rule = FindRule(name);
      if (rule == nullptr) continue;
      const bool over1 = rule->use == OptionUse::kRefusedOver1 &&
                         reader.Count(name, 0).value_or(1) > 1;
      if (over1 || rule->use == OptionUse::kRefused) {
        violations.Add("--" + name,
                       absl::StrCat("means ", std::string(rule->meaning),
                                    ", which PRISM does not "
                                    "model so far"));
      }
    }
  }

  // Options in one of several texts of a variable: only the shell's own logic
  // knows which text counts.
  static void FindAmbiguous(const std::vector<Statement>& statements,
                            const ShellVariables& variables,
                            base::Violations& violations) {
    std::set<std::string> seen;
    for (const Statement& statement : statements) {
      const std::string& name = statement.name;
      if (name.empty() || !seen.insert(name).second) continue;
      const std::vector<std::string> texts = variables.Alternatives(name);
      if (std::none_of(texts.begin(), texts.end(), HoldsOptionsThatMatter))
        continue;
      violations.Add(
          name, absl::StrCat("is assigned several texts (\"",
                             absl::StrJoin(texts, "\", \""),
                             "\"); choose one with --set ", name, "=VALUE"));
    }
  }

  // Jobs of one file mostly lack the same things.
  void Keep(const base::Violations& violations) {
    for (const base::Violation& violation : violations.list()) {
      if (std::find(found_.begin(), found_.end(), violation) == found_.end())
        found_.push_back(violation);
    }
  }

  void Remark(const LaunchOptions& options) {
    for (const std::string& name : options.Names()) {
      const OptionRule* rule = FindRule(name);
      if (rule == nullptr) {
        unknown_.Add("--" + name);
      } else if (rule->use == OptionUse::kLeftOut) {
        left_out_.Add(rule->meaning.empty()
                          ? "--" + name
                          : absl::StrCat("--", name, " (",
                                         std::string(rule->meaning), ")"));
      }
    }
    for (const std::string& name : options.Repeated()) {
      if (Matters(name)) repeated_.Add("--" + name);
    }
    for (const std::string& name : options.strays()) {
      if (IsVariableName(name)) strays_.Add(name);
    }
  }

  std::vector<std::string> Warnings() const {
    std::vector<std::string> warnings;
    const auto warn = [&](const char* text, const List& list) {
      if (!list.empty())
        warnings.push_back(absl::StrCat(text, ": ", list.Join()));
    };
    warn("options that are not known are left out", unknown_);
    warn("options that a job has no field for are left out", left_out_);
    warn("options given several times with different values, the last counts",
         repeated_);
    warn("undefined variables may hold options that are missed", strays_);
    return warnings;
  }

  const Settings& settings_;
  std::string name_;
  std::vector<Statement> statements_;
  Directives directives_;
  std::vector<base::Violation> found_;
  List unknown_;
  List left_out_;
  List repeated_;
  List strays_;
};

}  // namespace

Imported ImportMegatron(const std::vector<SourceFile>& files,
                        const Settings& settings,
                        base::Violations& violations) {
  size_t bytes = 0;
  for (const SourceFile& file : files) bytes += file.text.size();
  if (bytes > kMostScriptBytes) {
    violations.Add("", absl::StrCat("holds ", bytes, " bytes; must be at most ",
                                    kMostScriptBytes, ", as launch scripts"));
    return {};
  }
  Imported imported = Importer(files, settings).Import(violations);
  if (violations.empty()) settings.ReportUnused(violations);
  if (!violations.empty()) imported.jobs.clear();
  return imported;
}

}  // namespace prism::import
