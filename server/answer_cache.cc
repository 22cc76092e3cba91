#include "server/answer_cache.h"

#include <utility>

namespace prism::server {
namespace {

// Map node, list node, control block and the allocator's share of an entry.
constexpr size_t kOverheadBytes = 256;

size_t Charge(const QuestionKey& key, const Answer& answer) {
  return key.signature.size() + answer.signature.size() +
         answer.canonical_form.size() + answer.bytes.size() + kOverheadBytes;
}

}  // namespace

std::shared_ptr<const Answer> AnswerCache::Find(const QuestionKey& key,
                                                absl::Time now) {
  auto answer = answers_.Find(key.signature);
  if (answer == nullptr || answer->canonical_form != key.canonical_form) {
    return nullptr;
  }
  if (now < answer->valid_until) return answer;
  if (answers_.Erase(key.signature)) {
    metrics_.evicted_expired.Increment();
    ExportSize();
  }
  return nullptr;
}

void AnswerCache::Insert(const QuestionKey& key,
                         std::shared_ptr<const Answer> answer) {
  const auto old = answers_.Find(key.signature);
  if (old != nullptr && old->canonical_form != key.canonical_form) {
    metrics_.evicted_collision.Increment();
  }
  const size_t charge = Charge(key, *answer);
  metrics_.evicted_for_space.Increment(
      answers_.Insert(key.signature, std::move(answer), charge));
  ExportSize();
}

void AnswerCache::ExportSize() {
  metrics_.cache_entries.Set(static_cast<double>(answers_.entries()));
  metrics_.cache_bytes.Set(static_cast<double>(answers_.bytes()));
}

}  // namespace prism::server
