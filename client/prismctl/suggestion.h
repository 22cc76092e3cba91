// Guessing what a misspelt word was meant to be.
#ifndef PRISM_CLIENT_PRISMCTL_SUGGESTION_H_
#define PRISM_CLIENT_PRISMCTL_SUGGESTION_H_

#include <string>
#include <string_view>
#include <vector>

namespace prism::prismctl {

// Insertions, deletions, replacements and swaps of neighbours that turn one
// word into the other (optimal string alignment distance).
int EditDistance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, if near enough to be meant: at most a third
// of its letters (or one) differ. Empty otherwise.
std::string Suggestion(std::string_view word,
                       const std::vector<std::string>& candidates);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_SUGGESTION_H_
