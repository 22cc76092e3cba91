// Any bytes as an operator trace.
#ifndef PRISM_TESTS_FUZZ_TRACE_INPUT_H_
#define PRISM_TESTS_FUZZ_TRACE_INPUT_H_

#include <string>

namespace prism::fuzz {

// Reads and replays `text`, held in memory and not: both must give the same
// answer or none. Ends the process where something is wrong.
void CheckTrace(const std::string& text);

}  // namespace prism::fuzz

#endif  // PRISM_TESTS_FUZZ_TRACE_INPUT_H_
