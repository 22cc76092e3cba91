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
#include <utility>
#include <vector>

#include "server/named_clusters.h"
#include "server/question.h"
#include "server/sharded_lru.h"

namespace prism::server {

// Thread-safe.
class RequestReader {
 public:
  // Remembers at most `capacity_bytes` of requests. `clusters` may be null and
  // outlives the reader.
  RequestReader(ReadRequest read, size_t capacity_bytes,
                const ClusterStore* clusters)
      : read_(std::move(read)), clusters_(clusters), recent_(capacity_bytes) {}

  // What a request meant.
  struct Meaning {
    std::vector<KnownQuestion> questions;
    NamedClusters::Uses clusters;
  };

  // Null if these bytes are not remembered, or name a cluster that has changed.
  std::shared_ptr<const Meaning> Recall(std::string_view body);

  // The questions in `body`, at least one; errors as of ReadRequest.
  absl::StatusOr<std::vector<PreparedQuestion>> Read(std::string_view body);

 private:
  void Remember(std::string_view body,
                const std::vector<PreparedQuestion>& questions,
                NamedClusters::Uses clusters);

  const ReadRequest read_;
  const ClusterStore* const clusters_;
  ShardedLru<Meaning> recent_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_REQUEST_READER_H_
