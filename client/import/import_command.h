// prismctl import: foreign formats as documents.
#ifndef PRISM_CLIENT_IMPORT_IMPORT_COMMAND_H_
#define PRISM_CLIENT_IMPORT_IMPORT_COMMAND_H_

#include <string>
#include <vector>

#include "client/prismctl/command.h"
#include "prism/v1/job.pb.h"

namespace prism::import {

// `import megatron FILE... [--set NAME=VALUE]...` and `import huggingface
// FILE [--set NAME=VALUE]...`. Runs in process, whatever the server.
prismctl::Command ImportCommand();

// One job as a document, several as a list of documents.
std::string JobsText(const std::vector<prism::v1::Job>& jobs,
                     prismctl::OutputFormat format);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_IMPORT_COMMAND_H_
