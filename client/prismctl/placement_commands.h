// prismctl score, place and rank: where a job should run.
#ifndef PRISM_CLIENT_PRISMCTL_PLACEMENT_COMMANDS_H_
#define PRISM_CLIENT_PRISMCTL_PLACEMENT_COMMANDS_H_

#include "client/prismctl/command.h"

namespace prism::prismctl {

Command ScoreCommand();
Command PlaceCommand();
Command RankCommand();

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_PLACEMENT_COMMANDS_H_
