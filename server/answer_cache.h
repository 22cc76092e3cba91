// AnswerCache: answers by signature, bounded in bytes and in age.
#ifndef PRISM_SERVER_ANSWER_CACHE_H_
#define PRISM_SERVER_ANSWER_CACHE_H_

#include <absl/time/time.h>

#include <cstddef>
#include <memory>

#include "server/answer.h"
#include "server/flight.h"
#include "server/metrics.h"
#include "server/sharded_lru.h"

namespace prism::server {

// Thread-safe.
class AnswerCache {
 public:
  // `metrics` outlives the cache.
  AnswerCache(size_t capacity_bytes, Metrics& metrics)
      : answers_(capacity_bytes), metrics_(metrics) {}

  // Null unless an answer to this very question is there and valid at `now`.
  // A signature alone proves nothing: canonical forms are compared.
  std::shared_ptr<const Answer> Find(const QuestionKey& key, absl::Time now);

  void Insert(const QuestionKey& key, std::shared_ptr<const Answer> answer);

  size_t bytes() const { return answers_.bytes(); }

 private:
  void ExportSize();

  ShardedLru<Answer> answers_;
  Metrics& metrics_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_ANSWER_CACHE_H_
