#include "client/render/provenance_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <vector>

#include "client/render/paint.h"
#include "client/render/units.h"
#include "client/render/wrap.h"

namespace prism::render {

std::string NotesText(
    const google::protobuf::RepeatedPtrField<std::string>& notes,
    const Terminal& terminal) {
  if (notes.empty()) return "";
  const Paint paint(terminal.colour);
  std::string text = absl::StrCat("\n", paint.Heading("Notes"), "\n");
  for (const std::string& note : notes) {
    text += Wrap("  - ", note, terminal.columns);
  }
  return text;
}

std::string ProvenanceText(const prism::v1::Provenance& provenance,
                           const Terminal& terminal) {
  const std::vector<std::string> parts = {
      absl::StrCat("answered in ", Duration(provenance.elapsed_seconds())),
      absl::StrCat("quality ", DocumentName(provenance.quality())),
      absl::StrCat("cache ", DocumentName(provenance.cache())),
      absl::StrCat("model ", provenance.model_version()),
      absl::StrCat("signature ", provenance.signature().substr(0, 12))};
  const Paint paint(terminal.colour);
  return NotesText(provenance.notes(), terminal) +
         paint.Quiet("\n" +
                     Wrap("", absl::StrJoin(parts, ", "), terminal.columns));
}

}  // namespace prism::render
