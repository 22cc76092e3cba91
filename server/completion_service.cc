#include "server/completion_service.h"

#include <utility>

#include "core/query/project_completion.h"
#include "server/question_kind.h"

namespace prism::server {
namespace {

using Question = query::CompletionQuestion;

absl::StatusOr<Computed> Project(const Question& question,
                                 const base::Budget& budget,
                                 base::Executor& executor) {
  const auto response = query::ProjectCompletion(question, budget, executor);
  if (!response.ok()) return response.status();
  return ComputedFrom(*response, Engine::kCompletion,
                      response->completion().sampling().samples());
}

ReadRequest Reader() {
  QuestionKind<prism::v1::ProjectCompletionRequest, Question> kind;
  kind.read = query::ReadCompletionQuestion;
  kind.canonical_form = [](const Question& question) {
    return query::CanonicalForm(question);
  };
  kind.cluster_form = [](const Question& question) {
    return query::ClusterForm(question);
  };
  kind.compute = Project;
  return OneQuestion(std::move(kind));
}

}  // namespace

CompletionService::CompletionService(size_t recent_bytes, ServiceState& state)
    : project_(state,
               {prism::v1::CompletionService::service_full_name(),
                "ProjectCompletion", "unary"},
               Reader(), recent_bytes) {}

}  // namespace prism::server
