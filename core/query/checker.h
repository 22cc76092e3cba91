// Checker: ranges and relations of the fields of a message.
//
// A check that fails adds a violation and returns a harmless value in range,
// so that reading goes on and the first problem hides none of the others.
#ifndef PRISM_CORE_QUERY_CHECKER_H_
#define PRISM_CORE_QUERY_CHECKER_H_

#include <google/protobuf/generated_enum_reflection.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/base/violations.h"
#include "core/query/field_path.h"

namespace prism::query {

// No number of a question is larger: products of several stay finite.
inline constexpr double kLargestNumber = 1e15;

class Checker final {
 public:
  // Requires: `violations` outlives the checker.
  explicit Checker(base::Violations& violations) : violations_(violations) {}

  void Fail(const FieldPath& path, std::string description);
  // Fails unless `holds`; returns it.
  bool Require(bool holds, const FieldPath& path, std::string description);

  // `value` if it is a number from `low` (above it for Above) to
  // kLargestNumber, 1 otherwise.
  double AtLeast(double value, double low, const FieldPath& path);
  double Above(double value, double low, const FieldPath& path);
  // `value` if it is a number from `low` to `high`, `low` otherwise.
  double Within(double value, double low, double high, const FieldPath& path);

  // `value` if it is from `low` to `high`, `low` otherwise.
  int64_t Between(uint64_t value, int64_t low, int64_t high,
                  const FieldPath& path);
  // The same where 0 stands for `absent`.
  int64_t BetweenOr(uint64_t value, int64_t absent, int64_t low, int64_t high,
                    const FieldPath& path);

  // Fails unless `value` is a multiple of `divisor`, which `name` describes.
  void Divides(int64_t divisor, const std::string& name, int64_t value,
               const FieldPath& path);

  // What `table` says for `value`; where it says nothing, fails, naming what
  // it has, and returns its first entry's.
  template <typename Enum, typename Core>
  Core Choose(Enum value, std::initializer_list<std::pair<Enum, Core>> table,
              const FieldPath& path) {
    std::vector<int> accepted;
    for (const auto& [known, core] : table) {
      if (known == value) return core;
      accepted.push_back(known);
    }
    FailEnum(*google::protobuf::GetEnumDescriptor<Enum>(), value,
             std::move(accepted), path);
    return table.begin()->second;
  }

  // How many checks have failed.
  int failures() const { return failures_; }

 private:
  double Number(double value, bool holds, const char* relation,
                const FieldPath& path, double low);
  void FailEnum(const google::protobuf::EnumDescriptor& type, int value,
                std::vector<int> accepted, const FieldPath& path);

  base::Violations& violations_;
  int failures_ = 0;
};

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_CHECKER_H_
