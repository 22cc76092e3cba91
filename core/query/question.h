// Question: a validated prediction question, and how it is named.
//
// The face of the core: messages in, validated types with field paths in every
// error, canonical form and signature out. Server and command line both ask
// through it, so the same question gives the same answer in process and over
// the network.
#ifndef PRISM_CORE_QUERY_QUESTION_H_
#define PRISM_CORE_QUERY_QUESTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/base/violations.h"
#include "core/estimate/placement.h"
#include "core/hardware/cluster.h"
#include "core/step/step_profile.h"
#include "core/step/step_time.h"
#include "core/workload/job.h"
#include "prism/v1/prediction_service.pb.h"

namespace prism::query {

struct JobSubject {
  workload::Job job;
  hardware::Cluster cluster;
  estimate::Placement placement;
};

struct Question {
  std::variant<JobSubject, step::StepProfile> subject;
  step::Method method = step::Method::kAuto;
  std::optional<int64_t> samples;  // 100 to 10,000,000
  bool variation = true;           // of a job; false: all durations are means
};

// Checks `message` and converts it. Adds every violation to `violations`, with
// paths that begin with `path` ("questions[2]", or "" for bare field names).
// Returns nothing if there was any.
std::optional<Question> ReadQuestion(const prism::v1::Question& message,
                                     const std::string& path,
                                     base::Violations& violations);

// The bytes that say everything the answer depends on, and nothing else: names
// and field order are out, defaults filled in, numbers by their exact bits.
// Nodes that the job does not use are out, and which of several
// interchangeable nodes it uses.
// Equal questions have equal forms on every machine.
std::string CanonicalForm(const Question& question);

// SHA-256 of the model version and the canonical form, 64 hexadecimal digits.
std::string Signature(const std::string& canonical_form);

// Key of the random streams: from everything in the question except placement
// and what tells nodes and ranks apart, so that candidates for one job share
// their draws.
uint64_t RandomKey(const Question& question);

// Version of the model: answers of one version repeat to the last bit.
std::string ModelVersion();

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_QUESTION_H_
