#include "server/timeline_service.h"

#include <utility>

#include "core/query/record_timeline.h"
#include "server/question_kind.h"

namespace prism::server {
namespace {

using Question = query::TimelineQuestion;

absl::StatusOr<Computed> Record(const Question& question,
                                const base::Budget& budget,
                                base::Executor& executor) {
  const auto response = query::RecordTimeline(question, budget, executor);
  if (!response.ok()) return response.status();
  return ComputedFrom(*response, Engine::kTimeline, response->samples());
}

ReadRequest Reader() {
  QuestionKind<prism::v1::RecordTimelineRequest, Question> kind;
  kind.read = query::ReadTimelineQuestion;
  kind.canonical_form = [](const Question& question) {
    return query::CanonicalForm(question);
  };
  kind.cluster_form = [](const Question& question) {
    return query::ClusterForm(question);
  };
  kind.compute = Record;
  return OneQuestion(std::move(kind));
}

}  // namespace

TimelineService::TimelineService(size_t recent_bytes, ServiceState& state)
    : record_(state,
              {prism::v1::TimelineService::service_full_name(),
               "RecordTimeline", "unary"},
              Reader(), recent_bytes) {}

}  // namespace prism::server
