// NameTable: each name once, by number.
#ifndef PRISM_CORE_TRACE_KINETO_NAME_TABLE_H_
#define PRISM_CORE_TRACE_KINETO_NAME_TABLE_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace prism::kineto {

// Numbers from 0 in the order of the first use. Not thread-safe.
template <typename Name>
class NameTable {
 public:
  int32_t Number(const Name& name) {
    const auto [entry, added] =
        numbers_.emplace(name, static_cast<int32_t>(names_.size()));
    if (added) names_.push_back(name);
    return entry->second;
  }

  const Name& At(int32_t number) const { return names_[number]; }

  // The names by number.
  std::vector<Name> Take() && { return std::move(names_); }

 private:
  std::map<Name, int32_t> numbers_;
  std::vector<Name> names_;
};

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_NAME_TABLE_H_
