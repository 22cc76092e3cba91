#include "server/question_kind.h"

#include "core/query/question.h"

namespace prism::server {
namespace {

// Enough to tell versions apart.
constexpr size_t kVersionDigits = 16;

}  // namespace

std::shared_ptr<const QuestionKey> KeyOf(std::string canonical_form) {
  auto key = std::make_shared<QuestionKey>();
  key->signature = query::Signature(canonical_form);
  key->canonical_form = std::move(canonical_form);
  return key;
}

std::string ClusterVersionOf(const std::string& cluster_form) {
  return query::Signature(cluster_form).substr(0, kVersionDigits);
}

}  // namespace prism::server
