// Canonical forms of parts of a question. CanonicalForm() of the whole is in
// question.h.
#ifndef PRISM_CORE_QUERY_CANONICAL_FORM_H_
#define PRISM_CORE_QUERY_CANONICAL_FORM_H_

#include <cstdint>
#include <string>

#include "core/query/canonical_writer.h"
#include "core/query/question.h"
#include "core/stats/distribution.h"

namespace prism::query {

enum class CanonicalParts {
  kAll,
  // Without what tells nodes and ranks apart and without how the question is
  // answered: placement, slowdown, node and path states, method, samples.
  kCommon,
  // What came from the cluster, and nothing else; empty for a profile.
  kCluster,
};

std::string CanonicalForm(const Question& question, CanonicalParts parts);

// Writes `distribution` as a value of its own.
void WriteDistribution(CanonicalWriter& out, uint8_t tag,
                       const stats::Distribution& distribution);

// For questions that are more than one prediction: a job, and all that a
// cluster says of its nodes. Each is the form of that part alone; write it as a
// text into the form of the whole.
enum class ClusterParts {
  kSpeeds,           // nodes, paths and health
  kWithReliability,  // and how often they fail
};

std::string JobForm(const workload::Job& job);

// Without names and reasons.
std::string ClusterForm(const hardware::Cluster& cluster, ClusterParts parts);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_CANONICAL_FORM_H_
