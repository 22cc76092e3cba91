#include "client/prismctl/question_documents.h"

#include <string>

#include "client/prismctl/document_file.h"
#include "core/base/check.h"

namespace prism::prismctl {
namespace {

using google::protobuf::Message;

// Emptied, so that a document replaces what was there.
Message* MutableField(Message* question, const std::string& name) {
  const auto* field = question->GetDescriptor()->FindFieldByName(name);
  PRISM_CHECK(field != nullptr);
  question->GetReflection()->ClearField(question, field);
  return question->GetReflection()->MutableMessage(question, field);
}

}  // namespace

void ReadDocuments(const QuestionFiles& files, std::istream& in,
                   Message* question, InputProblems& problems) {
  for (const auto& [subject, file] : files) {
    ReadDocumentFile(subject, file, in, MutableField(question, subject),
                     problems);
  }
}

}  // namespace prism::prismctl
