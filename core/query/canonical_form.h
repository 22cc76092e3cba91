// Canonical forms of parts of a question. CanonicalForm() of the whole is in
// question.h.
#ifndef PRISM_CORE_QUERY_CANONICAL_FORM_H_
#define PRISM_CORE_QUERY_CANONICAL_FORM_H_

#include <string>

#include "core/query/question.h"

namespace prism::query {

enum class CanonicalParts {
  kAll,
  // Without what tells nodes and ranks apart and without how the question is
  // answered: placement, slowdown, node states, method, samples.
  kCommon,
};

std::string CanonicalForm(const Question& question, CanonicalParts parts);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_CANONICAL_FORM_H_
