#include "server/request_reader.h"

#include <absl/strings/str_cat.h>

#include <string>
#include <utility>

#include "core/base/violations.h"
#include "prism/v1/prediction_service.pb.h"
#include "server/rpc_status.h"

namespace prism::server {
namespace {

using prism::v1::PredictRequest;
using prism::v1::PredictStreamRequest;

// Larger requests are read anew each time.
constexpr size_t kMostRemembered = 64 << 10;
constexpr size_t kOverheadBytes = 256;

template <typename Message>
absl::StatusOr<Message> Parse(std::string_view body) {
  Message message;
  if (!message.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return MalformedError(Message::descriptor()->full_name());
  }
  return message;
}

void Add(const prism::v1::Question& message, const std::string& path,
         base::Violations& violations, std::vector<ReadQuestion>& questions) {
  auto question = query::ReadQuestion(message, path, violations);
  if (!question) return;
  auto key = std::make_shared<QuestionKey>();
  key->canonical_form = query::CanonicalForm(*question);
  key->signature = query::Signature(key->canonical_form);
  questions.push_back({std::move(key), *std::move(question)});
}

absl::StatusOr<std::vector<ReadQuestion>> ReadUnary(std::string_view body) {
  const auto request = Parse<PredictRequest>(body);
  if (!request.ok()) return request.status();
  base::Violations violations;
  std::vector<ReadQuestion> questions;
  const int count = request->questions_size();
  if (count < 1 || count > kMaxQuestions) {
    violations.Add("questions",
                   absl::StrCat("has ", count, " questions; must have 1 to ",
                                kMaxQuestions));
    return BadRequestError(violations);
  }
  for (int i = 0; i < count; ++i) {
    Add(request->questions(i), absl::StrCat("questions[", i, "]"), violations,
        questions);
  }
  if (!violations.empty()) return BadRequestError(violations);
  return questions;
}

absl::StatusOr<std::vector<ReadQuestion>> ReadStreamed(std::string_view body) {
  const auto request = Parse<PredictStreamRequest>(body);
  if (!request.ok()) return request.status();
  base::Violations violations;
  std::vector<ReadQuestion> questions;
  Add(request->question(), "question", violations, questions);
  if (!violations.empty()) return BadRequestError(violations);
  return questions;
}

}  // namespace

absl::StatusOr<std::vector<ReadQuestion>> RequestReader::Read(
    std::string_view body) {
  auto questions =
      kind_ == Kind::kPredict ? ReadUnary(body) : ReadStreamed(body);
  if (questions.ok()) Remember(body, *questions);
  return questions;
}

void RequestReader::Remember(std::string_view body,
                             const std::vector<ReadQuestion>& questions) {
  if (body.size() > kMostRemembered) return;
  auto keys = std::make_shared<std::vector<QuestionKey>>();
  size_t charge = body.size() + kOverheadBytes;
  for (const ReadQuestion& question : questions) {
    charge += sizeof(QuestionKey) + question.key->signature.size() +
              question.key->canonical_form.size();
    keys->push_back(*question.key);
  }
  recent_.Insert(std::string(body), std::move(keys), charge);
}

}  // namespace prism::server
