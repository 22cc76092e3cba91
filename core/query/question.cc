#include "core/query/question.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "core/query/node.h"
#include "core/query/read_job.h"
#include "core/query/read_profile.h"

namespace prism::query {
namespace {

constexpr int64_t kFewestSamples = 100;
constexpr int64_t kMostSamples = 10'000'000;

// Whoever keeps clusters puts the one that is named in before asking.
void CheckClusterName(const prism::v1::Question& message, const FieldPath& path,
                      Checker& checker) {
  const std::string& name = message.cluster_name();
  if (name.empty()) return;
  checker.Fail(path.Field("cluster_name"),
               message.has_cluster()
                   ? "is not allowed together with cluster; give one of them"
                   : absl::StrCat("is ", Quote(name),
                                  "; no clusters are kept here, give cluster"));
}

JobSubject ReadJobSubject(const prism::v1::Question& message,
                          const FieldPath& path, Checker& checker) {
  JobSubject subject;
  subject.job = ReadJob(message.job(), path.Field("job"), checker);
  CheckClusterName(message, path, checker);
  if (!checker.Require(message.has_cluster() || !message.cluster_name().empty(),
                       path.Field("cluster"), "is missing; a job needs one")) {
    return subject;
  }
  if (!message.has_cluster()) return subject;
  const int before = checker.failures();
  subject.cluster =
      ReadCluster(message.cluster(), path.Field("cluster"), checker);
  const int64_t gpus = subject.job.parallelism.gpus();
  // The sizes of a wrong cluster say nothing about what fits into it.
  if (checker.failures() == before) {
    checker.Require(
        gpus <= subject.cluster.gpus(), path.Field("job").Field("parallelism"),
        absl::StrCat("needs ", gpus,
                     " GPUs (tensor * context * pipeline * data); must be at "
                     "most ",
                     subject.cluster.gpus(), ", what the cluster has"));
  }
  subject.placement = ReadPlacement(message.placement(), subject.cluster, gpus,
                                    path.Field("placement"), checker);
  return subject;
}

step::StepProfile ReadProfileSubject(const prism::v1::Question& message,
                                     const FieldPath& path, Checker& checker) {
  checker.Require(!message.has_cluster(), path.Field("cluster"),
                  "is not allowed; a step profile holds all times itself");
  checker.Require(message.cluster_name().empty(), path.Field("cluster_name"),
                  "is not allowed; a step profile holds all times itself");
  checker.Require(!message.has_placement(), path.Field("placement"),
                  "is not allowed; a step profile holds all times itself");
  checker.Require(message.variation() == prism::v1::VARIATION_UNSPECIFIED,
                  path.Field("variation"),
                  "is not allowed; a step profile says itself what varies");
  return ReadProfile(message.profile(), path.Field("profile"), checker);
}

step::Method ReadMethod(prism::v1::Method value, const FieldPath& path,
                        Checker& checker) {
  return checker.Choose<prism::v1::Method, step::Method>(
      value,
      {{prism::v1::METHOD_UNSPECIFIED, step::Method::kAuto},
       {prism::v1::METHOD_AUTO, step::Method::kAuto},
       {prism::v1::METHOD_MONTECARLO, step::Method::kMonteCarlo}},
      path);
}

// Whether durations vary.
bool ReadVariation(prism::v1::Variation value, const FieldPath& path,
                   Checker& checker) {
  return checker.Choose<prism::v1::Variation, bool>(
      value,
      {{prism::v1::VARIATION_UNSPECIFIED, true},
       {prism::v1::VARIATION_DEFAULT, true},
       {prism::v1::VARIATION_OFF, false}},
      path);
}

std::optional<int64_t> ReadSamples(uint64_t value, const FieldPath& path,
                                   Checker& checker) {
  if (value == 0) return std::nullopt;
  return checker.Between(value, kFewestSamples, kMostSamples, path);
}

}  // namespace

std::optional<Question> ReadQuestion(const prism::v1::Question& message,
                                     const std::string& path,
                                     base::Violations& violations) {
  Checker checker(violations);
  const FieldPath root(path);
  Question question;
  switch (message.subject_case()) {
    case prism::v1::Question::kJob:
      question.subject = ReadJobSubject(message, root, checker);
      break;
    case prism::v1::Question::kProfile:
      question.subject = ReadProfileSubject(message, root, checker);
      break;
    case prism::v1::Question::SUBJECT_NOT_SET:
      checker.Fail(root, "asks about nothing; must have a job or a profile");
  }
  question.method = ReadMethod(message.method(), root.Field("method"), checker);
  question.variation =
      ReadVariation(message.variation(), root.Field("variation"), checker);
  question.samples =
      ReadSamples(message.samples(), root.Field("samples"), checker);
  if (checker.failures() > 0) return std::nullopt;
  return question;
}

}  // namespace prism::query
