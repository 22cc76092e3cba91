#include "client/prismctl/document_file.h"

#include "client/prismctl/input_file.h"
#include "core/query/document.h"

namespace prism::prismctl {

void ReadDocumentFile(const std::string& subject, const std::string& file,
                      std::istream& in, google::protobuf::Message* message,
                      InputProblems& problems) {
  const auto text = ReadInput(file, in);
  if (!text.ok()) {
    problems.AddToFile(subject, "", std::string(text.status().message()));
    return;
  }
  base::Violations violations;
  query::ReadDocument(*text, message, violations);
  for (const base::Violation& violation : violations.list()) {
    problems.AddToFile(subject, violation.field, violation.description);
  }
}

}  // namespace prism::prismctl
