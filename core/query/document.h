// Documents: messages as people write them, in YAML or JSON.
//
// Keys are proto field names, enum values their document_name. A distribution
// may be a plain number, and a mixture a plain list of components. Reading is
// strict: unknown keys, duplicate keys, wrong types and values that do not fit
// are violations with the field's path, all found in one pass.
#ifndef PRISM_CORE_QUERY_DOCUMENT_H_
#define PRISM_CORE_QUERY_DOCUMENT_H_

#include <google/protobuf/message.h>

#include <string>

#include "core/base/violations.h"

namespace prism::query {

// Fills `message` from the text of one document. What cannot be parsed at all
// is a violation with an empty path and the line and column in its
// description. A document that is a list stands for the field `list_field`,
// where one is given.
void ReadDocument(const std::string& text, google::protobuf::Message* message,
                  base::Violations& violations,
                  const std::string& list_field = "");

// Writes `message` as a document that ReadDocument reads back to an equal
// message. Fields that are not set are left out.
std::string WriteYaml(const google::protobuf::Message& message);
std::string WriteJson(const google::protobuf::Message& message);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_DOCUMENT_H_
