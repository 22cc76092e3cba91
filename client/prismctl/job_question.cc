#include "client/prismctl/job_question.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace prism::prismctl {
namespace {

constexpr int64_t kMostThreads = 1024;

}  // namespace

std::vector<Option> JobOptionsInto(JobOptions& options,
                                   const std::string& request_help) {
  return {{.name = "--job",
           .placeholder = "JOB",
           .help = "the job, a YAML or JSON document",
           .target = &options.job},
          {.name = "--cluster",
           .placeholder = "CLUSTER",
           .help = "the cluster; with a server also the name of one that it "
                   "stores, where no file is called so",
           .target = &options.cluster},
          {.name = "--request",
           .placeholder = "FILE",
           .help = request_help,
           .target = &options.request},
          {.name = "--threads",
           .placeholder = "N",
           .help = "threads when answering in this process (default: one a "
                   "core)",
           .target = &options.threads}};
}

std::string JobUsageProblem(const JobOptions& options,
                            const std::vector<std::string>& more) {
  std::vector<std::string> files = {options.job, options.cluster,
                                    options.request};
  files.insert(files.end(), more.begin(), more.end());
  if (std::count(files.begin(), files.end(), "-") > 1) {
    return "only one document can come from standard input (-)";
  }
  if (options.threads &&
      (*options.threads < 1 || *options.threads > kMostThreads)) {
    return absl::StrCat("--threads: is ", *options.threads, "; must be 1 to ",
                        kMostThreads);
  }
  return "";
}

std::string MissingJobProblem(const JobOptions& options) {
  if (!options.request.empty()) return "";  // it may hold all
  if (options.job.empty()) return "give --job with --cluster";
  if (options.cluster.empty()) {
    return "--job needs --cluster: the cluster it would run on";
  }
  return "";
}

QuestionFiles FilesOf(const JobOptions& options, bool stored_cluster) {
  QuestionFiles files;
  for (const auto& [subject, file] : {std::pair{"job", options.job},
                                      {"cluster", options.cluster},
                                      {"", options.request}}) {
    if (!file.empty()) files[subject] = file;
  }
  if (stored_cluster) files.erase("cluster");
  return files;
}

int ThreadsOf(const JobOptions& options) {
  const unsigned cores = std::max(std::thread::hardware_concurrency(), 1u);
  return static_cast<int>(options.threads.value_or(cores));
}

}  // namespace prism::prismctl
