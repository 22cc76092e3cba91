// Distributions of a message as checked values.
#ifndef PRISM_CORE_QUERY_READ_DISTRIBUTION_H_
#define PRISM_CORE_QUERY_READ_DISTRIBUTION_H_

#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "core/stats/distribution.h"
#include "prism/v1/distribution.pb.h"

namespace prism::query {

// A constant where anything was wrong with `message`. Values keep their unit.
stats::Distribution ReadDistribution(const prism::v1::Distribution& message,
                                     const FieldPath& path, Checker& checker);

// The same with a mean that must be above 0: for what multiplies.
stats::Distribution ReadFactor(const prism::v1::Distribution& message,
                               const FieldPath& path, Checker& checker);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_READ_DISTRIBUTION_H_
