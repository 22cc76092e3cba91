// prismctl replay: what a recorded job lost, and to whom.
#ifndef PRISM_CLIENT_PRISMCTL_REPLAY_COMMAND_H_
#define PRISM_CLIENT_PRISMCTL_REPLAY_COMMAND_H_

#include "client/prismctl/command.h"

namespace prism::prismctl {

Command ReplayCommand();

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_REPLAY_COMMAND_H_
