#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include "core/query/canonical_form.h"
#include "core/query/question.h"
#include "core/query/sha256.h"
#include "core/stats/instruction_set.h"

namespace prism::query {

// The number changes with everything that changes an answer.
std::string ModelVersion() {
  return absl::StrCat("prism-0.4+", stats::InstructionSet());
}

std::string Signature(const std::string& canonical_form) {
  const Digest digest = Sha256({ModelVersion(), "\n", canonical_form});
  return absl::BytesToHexString(absl::string_view(
      reinterpret_cast<const char*>(digest.data()), digest.size()));
}

uint64_t RandomKey(const Question& question) {
  const Digest digest =
      Sha256({CanonicalForm(question, CanonicalParts::kCommon)});
  uint64_t key = 0;
  for (int i = 0; i < 8; ++i) key = key << 8 | digest[i];
  return key;
}

}  // namespace prism::query
