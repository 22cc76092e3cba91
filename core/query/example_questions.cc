#include "core/query/example_questions.h"

#include "core/base/check.h"
#include "core/query/document.h"

namespace prism::query {
namespace {

prism::v1::Question Parse(const char* text) {
  prism::v1::Question question;
  base::Violations violations;
  ReadDocument(text, &question, violations);
  PRISM_CHECK(violations.empty());
  return question;
}

}  // namespace

prism::v1::Question ExampleProfile() {
  return Parse(R"(
profile:
  name: example
  layout: {data: 2, pipeline: 2, tensor: 2, microbatches: 4}
  schedule: 1f1b
  forward:
    - name: layer
      compute: {lognormal: {mean: 1, cv: 0.05}}
      collective: {gamma: {mean: 0.2, cv: 0.3}}
      sync: tensor
      count: 2
  backward:
    - name: layer
      compute:
        mixture:
          - {weight: 3, distribution: {normal: {mean: 2, sd: 0.1}}}
          - {weight: 1, distribution: {empirical: {samples: [2, 3, 2.5]}}}
  transfer: {shifted_exponential: {shift: 0.1, mean_excess: 0.05}}
  gradient_sync: 5
  optimizer: 1
samples: 1000
)");
}

prism::v1::Question ExampleJob() {
  return Parse(R"(
job:
  name: example
  model:
    layers: 24
    hidden: 1024
    heads: 16
    vocabulary: 51200
  parallelism: {tensor: 2, pipeline: 2, data: 4}
  training: {sequence: 2048, global_batch: 64, micro_batch: 2}
cluster:
  name: two nodes
  accelerator: a100-80gb-sxm
  nodes: 2
samples: 1000
)");
}

}  // namespace prism::query
