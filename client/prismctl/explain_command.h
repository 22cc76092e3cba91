// prismctl explain: why a step takes as long as it does.
#ifndef PRISM_CLIENT_PRISMCTL_EXPLAIN_COMMAND_H_
#define PRISM_CLIENT_PRISMCTL_EXPLAIN_COMMAND_H_

#include "client/prismctl/command.h"

namespace prism::prismctl {

Command ExplainCommand();

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_EXPLAIN_COMMAND_H_
