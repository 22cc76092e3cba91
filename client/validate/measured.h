// Measured: what was measured of runs, layers and models, as questions.
//
// Plain values that the readers (readers.h) make of files. What a file leaves
// open is filled in by its reader, which says so in `assumptions`.
#ifndef PRISM_CLIENT_VALIDATE_MEASURED_H_
#define PRISM_CLIENT_VALIDATE_MEASURED_H_

#include <optional>
#include <string>
#include <vector>

#include "core/base/violations.h"
#include "core/workload/parameters.h"
#include "prism/v1/prediction_service.pb.h"

namespace prism::validate {

enum class Quantity {
  kStep,           // seconds
  kModelFlops,     // of a step: TFLOP/s a GPU, without recomputation
  kExecutedFlops,  // the same with full recomputation
  kLayerForward,   // seconds of one layer and micro-batch
  kLayerBackward,
  kPeakMemory,  // bytes of the fullest GPU, what its allocator handed out
  kParameters,  // of the model
};

struct Measured {
  std::string name;
  // Rows of one family are left out of a fit together: "3.6B".
  std::string family;
  std::string place;  // "multi_node.csv:12", for messages
  Quantity quantity = Quantity::kStep;
  double value = 0;  // above 0
  prism::v1::Question question;
  // Of kParameters alone: what a question's model cannot say.
  std::optional<workload::LatentAttention> latent_attention;
  std::optional<workload::Mixture> mixture;
  // Why the model has no answer; empty where it has.
  std::string not_covered;
};

struct Source {
  std::string name;
  // What the source leaves open and how it was taken, in a line.
  std::string assumptions = {};
  std::vector<Measured> rows = {};
};

// What readers found.
struct Measurements {
  std::vector<Source> sources;
  // Sets that the folder does not hold.
  std::vector<std::string> missing;
  // Rows and files that are damaged: "multi_node.csv:12: hidden".
  base::Violations unreadable;
};

}  // namespace prism::validate

#endif  // PRISM_CLIENT_VALIDATE_MEASURED_H_
