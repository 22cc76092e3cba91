#include "core/stats/instruction_set.h"

#include "core/stats/draw_kernels.h"

namespace prism::stats {

std::string InstructionSet() { return ActiveInstructionSet(); }

}  // namespace prism::stats
