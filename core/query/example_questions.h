// Small valid questions for tests.
#ifndef PRISM_CORE_QUERY_EXAMPLE_QUESTIONS_H_
#define PRISM_CORE_QUERY_EXAMPLE_QUESTIONS_H_

#include "prism/v1/prediction_service.pb.h"

namespace prism::query {

// 2 x 2 x 2 ranks, 4 micro-batches, every kind of distribution.
prism::v1::Question ExampleProfile();

// A transformer of 24 layers on 16 A100 in two nodes.
prism::v1::Question ExampleJob();

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_EXAMPLE_QUESTIONS_H_
