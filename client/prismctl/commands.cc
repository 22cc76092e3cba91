#include "client/prismctl/commands.h"

#include "client/prismctl/predict_command.h"

namespace prism::prismctl {

std::vector<Command> AllCommands() { return {PredictCommand()}; }

}  // namespace prism::prismctl
