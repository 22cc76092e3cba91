#include "client/prismctl/commands.h"

#include "client/import/import_command.h"
#include "client/prismctl/cluster_command.h"
#include "client/prismctl/complete_command.h"
#include "client/prismctl/explain_command.h"
#include "client/prismctl/placement_commands.h"
#include "client/prismctl/predict_command.h"
#include "client/prismctl/replay_command.h"
#include "client/validate/validate_command.h"

namespace prism::prismctl {

std::vector<Command> AllCommands() {
  return {PredictCommand(),        ScoreCommand(),
          PlaceCommand(),          RankCommand(),
          CompleteCommand(),       ExplainCommand(),
          ClusterCommand(),        ReplayCommand(),
          import::ImportCommand(), validate::ValidateCommand()};
}

}  // namespace prism::prismctl
