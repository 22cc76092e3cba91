#include "server/explain_service.h"

#include <utility>

#include "core/query/explain_variability.h"
#include "server/question_kind.h"

namespace prism::server {
namespace {

using Question = query::ExplainQuestion;

absl::StatusOr<Computed> Explain(const Question& question,
                                 const base::Budget& budget,
                                 base::Executor& executor) {
  const auto response = query::ExplainVariability(question, budget, executor);
  if (!response.ok()) return response.status();
  return ComputedFrom(*response, Engine::kExplain,
                      response->explanation().samples());
}

ReadRequest Reader() {
  QuestionKind<prism::v1::ExplainVariabilityRequest, Question> kind;
  kind.read = query::ReadExplainQuestion;
  kind.canonical_form = [](const Question& question) {
    return query::CanonicalForm(question);
  };
  kind.cluster_form = [](const Question& question) {
    return query::ClusterForm(question);
  };
  kind.compute = Explain;
  return OneQuestion(std::move(kind));
}

}  // namespace

ExplainService::ExplainService(size_t recent_bytes, ServiceState& state)
    : explain_(state,
               {prism::v1::ExplainService::service_full_name(),
                "ExplainVariability", "unary"},
               Reader(), recent_bytes) {}

}  // namespace prism::server
