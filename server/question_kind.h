// QuestionKind: how the core reads, names and answers one kind of question.
//
// All that is needed to serve an RPC whose answer depends on its request and
// on stored clusters: cache, single flight, deadlines, draining and metrics
// follow from it. See docs/life-of-a-request.md, "A new method".
#ifndef PRISM_SERVER_QUESTION_KIND_H_
#define PRISM_SERVER_QUESTION_KIND_H_

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/base/violations.h"
#include "server/answer.h"
#include "server/named_clusters.h"
#include "server/question.h"
#include "server/rpc_status.h"

namespace prism::server {

// Message is what the question is read from, Question what it is when it is
// known to be right. The functions are thread-safe.
template <typename Message, typename Question>
struct QuestionKind {
  // Nothing after a violation, whose path begins with the path given.
  std::function<std::optional<Question>(const Message&, const std::string& path,
                                        base::Violations&)>
      read;
  // Begins with a text that no other kind's begins with.
  std::function<std::string(const Question&)> canonical_form;
  // The part of that form that came from the cluster.
  std::function<std::string(const Question&)> cluster_form;
  std::function<absl::StatusOr<Computed>(const Question&, const base::Budget&,
                                         base::Executor&)>
      compute;
};

// The key of a question with this canonical form.
std::shared_ptr<const QuestionKey> KeyOf(std::string canonical_form);

// The version of a cluster of which an answer depends on `cluster_form`.
std::string ClusterVersionOf(const std::string& cluster_form);

// Adds the question in `message`, which is left without `cluster_name`, to
// `questions`, or what is wrong with it to `violations`. Errors: those of
// NamedClusters.
template <typename Message, typename Question>
absl::Status Prepare(
    const std::shared_ptr<const QuestionKind<Message, Question>>& kind,
    Message& message, const std::string& path, NamedClusters& clusters,
    base::Violations& violations, std::vector<PreparedQuestion>& questions) {
  const bool named = !message.cluster_name().empty();
  if (auto status = clusters.Resolve(message, path, violations); !status.ok()) {
    return status;
  }
  auto read = kind->read(message, path, violations);
  if (!read) return absl::OkStatus();
  PreparedQuestion prepared;
  prepared.key = KeyOf(kind->canonical_form(*read));
  if (named) {
    prepared.cluster_version = ClusterVersionOf(kind->cluster_form(*read));
  }
  prepared.compute =
      [kind, question = std::make_shared<const Question>(*std::move(read))](
          const base::Budget& budget, base::Executor& executor) {
        return kind->compute(*question, budget, executor);
      };
  questions.push_back(std::move(prepared));
  return absl::OkStatus();
}

// INVALID_ARGUMENT where `body` is no Message.
template <typename Message>
absl::StatusOr<Message> Parse(std::string_view body) {
  Message message;
  if (!message.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return MalformedError(Message::descriptor()->full_name());
  }
  return message;
}

// Reads requests that are one question each.
template <typename Message, typename Question>
ReadRequest OneQuestion(QuestionKind<Message, Question> of_kind) {
  auto kind = std::make_shared<const QuestionKind<Message, Question>>(
      std::move(of_kind));
  return [kind](std::string_view body, NamedClusters& clusters)
             -> absl::StatusOr<std::vector<PreparedQuestion>> {
    auto message = Parse<Message>(body);
    if (!message.ok()) return message.status();
    base::Violations violations;
    std::vector<PreparedQuestion> questions;
    if (auto status =
            Prepare(kind, *message, "", clusters, violations, questions);
        !status.ok()) {
      return status;
    }
    if (!violations.empty()) return BadRequestError(violations);
    return questions;
  };
}

}  // namespace prism::server

#endif  // PRISM_SERVER_QUESTION_KIND_H_
