// FieldPath: where in a message a reader is, named as the author of the
// document would name it: "forward[1].compute.lognormal.cv".
//
// A path refers to its parent, so going down costs nothing; text is made only
// when something is wrong. Make paths on the stack, pass them down.
#ifndef PRISM_CORE_QUERY_FIELD_PATH_H_
#define PRISM_CORE_QUERY_FIELD_PATH_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace prism::query {

class FieldPath {
 public:
  // Requires: `root` outlives the path.
  explicit FieldPath(std::string_view root) : name_(root) {}

  // Requires: this path and `name` outlive the result.
  FieldPath Field(std::string_view name) const {
    return FieldPath(this, name, kNoIndex);
  }
  // Requires: this path outlives the result.
  FieldPath Item(int64_t index) const { return FieldPath(this, {}, index); }

  std::string ToString() const;

  // Name of the field, empty for an item of a list.
  std::string_view name() const { return name_; }

 private:
  static constexpr int64_t kNoIndex = -1;

  FieldPath(const FieldPath* parent, std::string_view name, int64_t index)
      : parent_(parent), name_(name), index_(index) {}

  const FieldPath* parent_ = nullptr;
  std::string_view name_;
  int64_t index_ = kNoIndex;
};

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_FIELD_PATH_H_
