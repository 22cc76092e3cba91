// The documents that make up a question.
#ifndef PRISM_CLIENT_PRISMCTL_QUESTION_DOCUMENTS_H_
#define PRISM_CLIENT_PRISMCTL_QUESTION_DOCUMENTS_H_

#include <google/protobuf/message.h>

#include <istream>

#include "client/prismctl/input_problems.h"

namespace prism::prismctl {

// Reads each file into the field of `question` that it stands for, in place of
// what is there; `in` is standard input. Whatever cannot be read is added to
// `problems`.
//
// Requires: the keys of `files` are message fields of `question`.
void ReadDocuments(const QuestionFiles& files, std::istream& in,
                   google::protobuf::Message* question,
                   InputProblems& problems);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_QUESTION_DOCUMENTS_H_
