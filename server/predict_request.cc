#include "server/predict_request.h"

#include <absl/strings/str_cat.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/query/canonical_form.h"
#include "prism/v1/prediction_service.pb.h"
#include "server/question_kind.h"

namespace prism::server {
namespace {

using prism::v1::PredictRequest;
using prism::v1::PredictStreamRequest;

using Kind = QuestionKind<prism::v1::Question, query::Question>;
using Questions = std::vector<PreparedQuestion>;

std::shared_ptr<const Kind> KindOf(const Predictor& predictor) {
  Kind kind;
  kind.read = query::ReadQuestion;
  kind.canonical_form = [](const query::Question& question) {
    return query::CanonicalForm(question);
  };
  kind.cluster_form = [](const query::Question& question) {
    return query::CanonicalForm(question, query::CanonicalParts::kCluster);
  };
  kind.compute =
      [predictor](const query::Question& question, const base::Budget& budget,
                  base::Executor& executor) -> absl::StatusOr<Computed> {
    const auto prediction = predictor(question, budget, executor);
    if (!prediction.ok()) return prediction.status();
    return ComputedFrom(*prediction);
  };
  return std::make_shared<const Kind>(std::move(kind));
}

absl::StatusOr<Questions> ReadUnary(const std::shared_ptr<const Kind>& kind,
                                    std::string_view body,
                                    NamedClusters& clusters) {
  auto request = Parse<PredictRequest>(body);
  if (!request.ok()) return request.status();
  base::Violations violations;
  Questions questions;
  const int count = request->questions_size();
  if (count < 1 || count > kMaxQuestions) {
    violations.Add("questions",
                   absl::StrCat("has ", count, " questions; must have 1 to ",
                                kMaxQuestions));
    return BadRequestError(violations);
  }
  for (int i = 0; i < count; ++i) {
    const auto status = Prepare(kind, *request->mutable_questions(i),
                                absl::StrCat("questions[", i, "]"), clusters,
                                violations, questions);
    if (!status.ok()) return status;
  }
  if (!violations.empty()) return BadRequestError(violations);
  return questions;
}

absl::StatusOr<Questions> ReadStreamed(const std::shared_ptr<const Kind>& kind,
                                       std::string_view body,
                                       NamedClusters& clusters) {
  auto request = Parse<PredictStreamRequest>(body);
  if (!request.ok()) return request.status();
  base::Violations violations;
  Questions questions;
  const auto status = Prepare(kind, *request->mutable_question(), "question",
                              clusters, violations, questions);
  if (!status.ok()) return status;
  if (!violations.empty()) return BadRequestError(violations);
  return questions;
}

}  // namespace

ReadRequest PredictReader(const Predictor& predictor) {
  return [kind = KindOf(predictor)](std::string_view body,
                                    NamedClusters& clusters) {
    return ReadUnary(kind, body, clusters);
  };
}

ReadRequest PredictStreamReader(const Predictor& predictor) {
  return [kind = KindOf(predictor)](std::string_view body,
                                    NamedClusters& clusters) {
    return ReadStreamed(kind, body, clusters);
  };
}

}  // namespace prism::server
