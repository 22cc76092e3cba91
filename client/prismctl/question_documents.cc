#include "client/prismctl/question_documents.h"

#include <string>

#include "client/prismctl/input_file.h"
#include "core/base/check.h"
#include "core/query/document.h"

namespace prism::prismctl {
namespace {

using google::protobuf::Message;
using prism::v1::Question;

Message* MutableField(Question* question, const std::string& name) {
  const auto* field = Question::descriptor()->FindFieldByName(name);
  PRISM_CHECK(field != nullptr);
  return question->GetReflection()->MutableMessage(question, field);
}

}  // namespace

void ReadDocuments(const QuestionFiles& files, std::istream& in,
                   Question* question, InputProblems& problems) {
  for (const auto& [subject, file] : files) {
    Message* message = MutableField(question, subject);
    const auto text = ReadInput(file, in);
    if (!text.ok()) {
      problems.AddToFile(subject, "", std::string(text.status().message()));
      continue;
    }
    base::Violations violations;
    query::ReadDocument(*text, message, violations);
    for (const base::Violation& violation : violations.list()) {
      problems.AddToFile(subject, violation.field, violation.description);
    }
  }
}

}  // namespace prism::prismctl
