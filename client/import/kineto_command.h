// prismctl import kineto, import chakra: traces as step profiles.
#ifndef PRISM_CLIENT_IMPORT_KINETO_COMMAND_H_
#define PRISM_CLIENT_IMPORT_KINETO_COMMAND_H_

#include "client/prismctl/command.h"

namespace prism::import {

// `import kineto FILE... [--summary] [--set step=NAME] [--set clock=CLOCK]`.
// Files are streamed: their size does not matter, the number of kernels does.
prismctl::Command KinetoCommand();

// `import chakra FILE... [--summary]`, likewise.
prismctl::Command ChakraCommand();

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_KINETO_COMMAND_H_
