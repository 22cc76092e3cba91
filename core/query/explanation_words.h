// What an explanation says, in a person's words.
#ifndef PRISM_CORE_QUERY_EXPLANATION_WORDS_H_
#define PRISM_CORE_QUERY_EXPLANATION_WORDS_H_

#include <string>
#include <vector>

#include "prism/v1/explanation.pb.h"

namespace prism::query {

// The causes that matter most, a sentence each: what saves the most where it is
// typical, beyond chance; then what takes most of the mean; then what varies
// most by itself and yet does not matter. At most seven.
std::vector<std::string> CauseSentences(
    const prism::v1::Explanation& explanation);

// What `what` would do: "what: the median step would be ...".
std::string ChangeSentence(const std::string& what,
                           const prism::v1::Explanation& explanation,
                           const prism::v1::StepWithout& step);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_EXPLANATION_WORDS_H_
