#include "core/query/field_path.h"

#include <absl/strings/str_cat.h>

namespace prism::query {

std::string FieldPath::ToString() const {
  if (parent_ == nullptr) return std::string(name_);
  std::string text = parent_->ToString();
  if (index_ != kNoIndex) {
    absl::StrAppend(&text, "[", index_, "]");
    return text;
  }
  if (!text.empty()) text += '.';
  text.append(name_);
  return text;
}

}  // namespace prism::query
