// The instruction set that the vector kernels run on: part of the model
// version, because answers repeat to the last bit only within one.
#ifndef PRISM_CORE_STATS_INSTRUCTION_SET_H_
#define PRISM_CORE_STATS_INSTRUCTION_SET_H_

#include <string>

namespace prism::stats {

// For example "AVX2".
std::string InstructionSet();

}  // namespace prism::stats

#endif  // PRISM_CORE_STATS_INSTRUCTION_SET_H_
