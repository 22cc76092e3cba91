// RequestReader: from the bytes of a request to questions that can be asked.
//
// Checking, canonicalising and hashing a question costs more than answering
// it from the cache. A reader remembers what the exact bytes of requests meant,
// so that a request that is repeated to the byte skips all that. It is a short
// cut to the key only: whether there is an answer is for the cache to say.
#ifndef PRISM_SERVER_REQUEST_READER_H_
#define PRISM_SERVER_REQUEST_READER_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "core/query/question.h"
#include "server/flight.h"
#include "server/sharded_lru.h"

namespace prism::server {

inline constexpr int kMaxQuestions = 256;

struct ReadQuestion {
  std::shared_ptr<const QuestionKey> key;
  query::Question question;
};

// Thread-safe.
class RequestReader {
 public:
  enum class Kind { kPredict, kPredictStream };

  // Remembers at most `capacity_bytes` of requests of one kind.
  RequestReader(Kind kind, size_t capacity_bytes)
      : kind_(kind), recent_(capacity_bytes) {}

  // The keys of the questions in `body`; null if these bytes are not
  // remembered.
  std::shared_ptr<const std::vector<QuestionKey>> Recall(
      std::string_view body) {
    return recent_.Find(body);
  }

  // Reads a PredictRequest, or a PredictStreamRequest as the kind says.
  // INVALID_ARGUMENT with every violation of every question.
  absl::StatusOr<std::vector<ReadQuestion>> Read(std::string_view body);

 private:
  void Remember(std::string_view body,
                const std::vector<ReadQuestion>& questions);

  const Kind kind_;
  ShardedLru<std::vector<QuestionKey>> recent_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_REQUEST_READER_H_
