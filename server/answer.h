// Answer: what was computed for one question, as the bytes that are sent.
//
// The cache and the flights know nothing of the messages of single methods:
// an answer is a serialised message and the few things that decide how long it
// is kept and how it is counted. What belongs to one call alone is appended to
// the bytes when they are sent; parsers merge fields that come twice.
#ifndef PRISM_SERVER_ANSWER_H_
#define PRISM_SERVER_ANSWER_H_

#include <absl/time/time.h>
#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <memory>
#include <string>

#include "prism/v1/placement_service.pb.h"
#include "prism/v1/prediction.pb.h"

namespace prism::server {

// What computed an answer, a label of prism_simulation_seconds.
enum class Engine {
  kMonteCarlo,
  kStructured,
  kPlacement,
  kCompletion,
  kTimeline,
  kExplain  // the last
};
inline constexpr size_t kEngines = static_cast<size_t>(Engine::kExplain) + 1;

// Where an answer's message keeps its provenance.
enum class ProvenancePlace {
  kOwnFields,  // Prediction: its first fields are those of Provenance
  kField1,     // all others: a Provenance in field 1
};

// The result of a computation.
struct Computed {
  std::string bytes;  // the serialised message
  ProvenancePlace place = ProvenancePlace::kField1;
  prism::v1::Quality quality = prism::v1::QUALITY_UNSPECIFIED;
  Engine engine = Engine::kMonteCarlo;
  uint64_t samples = 0;  // steps simulated for it
};

Computed ComputedFrom(const prism::v1::Prediction& prediction);

// Requires: field 1 of Response is `provenance`, a Provenance.
template <typename Response>
Computed ComputedFrom(const Response& response, Engine engine,
                      uint64_t samples = 0) {
  static_assert(Response::kProvenanceFieldNumber == 1);
  return {.bytes = response.SerializeAsString(),
          .place = ProvenancePlace::kField1,
          .quality = response.provenance().quality(),
          .engine = engine,
          .samples = samples};
}

// Adds the fields that are set in `provenance` to those in `bytes`.
void AddProvenance(const prism::v1::Provenance& provenance,
                   ProvenancePlace place, std::string& bytes);

// Immutable once it is shared.
struct Answer {
  std::string canonical_form;
  std::string signature;
  // The message, all but prediction_id, cluster_version and cache.
  std::string bytes;
  ProvenancePlace place = ProvenancePlace::kField1;
  prism::v1::Quality quality = prism::v1::QUALITY_UNSPECIFIED;
  absl::Time valid_until;
};

// What one caller gets.
struct Reply {
  std::shared_ptr<const Answer> answer;
  prism::v1::CacheStatus cache = prism::v1::CACHE_STATUS_UNSPECIFIED;
  // Of the cluster that the caller named; empty where none was.
  std::string cluster_version;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_ANSWER_H_
