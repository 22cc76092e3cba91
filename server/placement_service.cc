#include "server/placement_service.h"

#include <utility>

#include "core/query/placement_questions.h"
#include "server/question_kind.h"

namespace prism::server {
namespace {

MethodName NameOf(const char* method) {
  return {prism::v1::PlacementService::service_full_name(), method, "unary"};
}

// `read` and `answer` are query's functions of one question.
template <typename Message, typename Question, typename Response>
ReadRequest ReaderOf(std::optional<Question> (*read)(const Message&,
                                                     const std::string&,
                                                     base::Violations&),
                     absl::StatusOr<Response> (*answer)(const Question&,
                                                        const base::Budget&,
                                                        base::Executor&)) {
  QuestionKind<Message, Question> kind;
  kind.read = read;
  kind.canonical_form = [](const Question& question) {
    return query::CanonicalForm(question);
  };
  kind.cluster_form = [](const Question& question) {
    return query::ClusterForm(question);
  };
  kind.compute = [answer](
                     const Question& question, const base::Budget& budget,
                     base::Executor& executor) -> absl::StatusOr<Computed> {
    const auto response = answer(question, budget, executor);
    if (!response.ok()) return response.status();
    return ComputedFrom(*response, Engine::kPlacement);
  };
  return OneQuestion(std::move(kind));
}

}  // namespace

PlacementService::PlacementService(size_t recent_bytes, ServiceState& state)
    : score_(state, NameOf("ScorePlacements"),
             ReaderOf(query::ReadScoreQuestion, query::ScorePlacements),
             recent_bytes / 3),
      optimize_(state, NameOf("OptimizePlacement"),
                ReaderOf(query::ReadOptimizeQuestion, query::OptimizePlacement),
                recent_bytes / 3),
      rank_(state, NameOf("RankNodes"),
            ReaderOf(query::ReadRankQuestion, query::RankNodes),
            recent_bytes / 3) {}

}  // namespace prism::server
