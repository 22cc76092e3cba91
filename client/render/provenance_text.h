// What an answer says of itself, as text that a person reads.
#ifndef PRISM_CLIENT_RENDER_PROVENANCE_TEXT_H_
#define PRISM_CLIENT_RENDER_PROVENANCE_TEXT_H_

#include <google/protobuf/repeated_field.h>

#include <string>

#include "client/render/terminal.h"
#include "prism/v1/document.pb.h"
#include "prism/v1/placement_service.pb.h"

namespace prism::render {

// The word that stands for an enum value in documents.
template <typename Enum>
std::string DocumentName(Enum value) {
  const auto* descriptor =
      google::protobuf::GetEnumDescriptor<Enum>()->FindValueByNumber(value);
  return descriptor == nullptr
             ? std::to_string(value)
             : descriptor->options().GetExtension(prism::v1::document_name);
}

// A section with `notes`; nothing where there are none.
std::string NotesText(
    const google::protobuf::RepeatedPtrField<std::string>& notes,
    const Terminal& terminal);

// The notes, and a last line that says how the answer was obtained.
std::string ProvenanceText(const prism::v1::Provenance& provenance,
                           const Terminal& terminal);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_PROVENANCE_TEXT_H_
