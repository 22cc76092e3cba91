// What a server must know of one question, whatever method it came with.
#ifndef PRISM_SERVER_QUESTION_H_
#define PRISM_SERVER_QUESTION_H_

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/flight.h"
#include "server/named_clusters.h"

namespace prism::server {

// A question that was read and found right, ready to be asked.
struct PreparedQuestion {
  std::shared_ptr<const QuestionKey> key;
  std::string cluster_version;  // as of Reply
  Compute compute;
};

// Reads the questions in the bytes of a request, at least one. Errors:
// INVALID_ARGUMENT with every violation of every question, those of
// NamedClusters. Thread-safe.
using ReadRequest = std::function<absl::StatusOr<std::vector<PreparedQuestion>>(
    std::string_view body, NamedClusters& clusters)>;

}  // namespace prism::server

#endif  // PRISM_SERVER_QUESTION_H_
