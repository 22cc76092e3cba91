// prismctl validate: the model against what was measured.
#ifndef PRISM_CLIENT_VALIDATE_VALIDATE_COMMAND_H_
#define PRISM_CLIENT_VALIDATE_VALIDATE_COMMAND_H_

#include "client/prismctl/command.h"

namespace prism::validate {

// Runs in process, whatever the server.
prismctl::Command ValidateCommand();

}  // namespace prism::validate

#endif  // PRISM_CLIENT_VALIDATE_VALIDATE_COMMAND_H_
