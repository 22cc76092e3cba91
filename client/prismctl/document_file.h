// Documents that commands read from files.
#ifndef PRISM_CLIENT_PRISMCTL_DOCUMENT_FILE_H_
#define PRISM_CLIENT_PRISMCTL_DOCUMENT_FILE_H_

#include <google/protobuf/message.h>

#include <istream>
#include <string>

#include "client/prismctl/input_problems.h"

namespace prism::prismctl {

// Reads the file that `problems` knows as `subject` into `message`; `in` is
// standard input. Whatever cannot be read is added to `problems`.
void ReadDocumentFile(const std::string& subject, const std::string& file,
                      std::istream& in, google::protobuf::Message* message,
                      InputProblems& problems);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_DOCUMENT_FILE_H_
