// Any bytes as a question document: it is refused with reasons or it is a
// question that has a name.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/check.h"
#include "core/query/document.h"
#include "core/query/question.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  prism::v1::Question message;
  prism::base::Violations violations;
  prism::query::ReadDocument(text, &message, violations);
  const bool read = violations.empty();
  const auto question = prism::query::ReadQuestion(message, "", violations);
  if (!question) {
    PRISM_CHECK(!violations.empty());
    return 0;
  }
  const std::string form = prism::query::CanonicalForm(*question);
  PRISM_CHECK(prism::query::Signature(form).size() == 64);
  if (!read) return 0;
  prism::v1::Question back;
  prism::query::ReadDocument(prism::query::WriteYaml(message), &back,
                             violations);
  const auto again = prism::query::ReadQuestion(back, "", violations);
  PRISM_CHECK(again && prism::query::CanonicalForm(*again) == form);
  return 0;
}
