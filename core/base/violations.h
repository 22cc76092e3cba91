// Violations: everything that is wrong with an input, gathered before giving
// up.
//
// A path names the field as the reader of the document would:
// "forward[1].compute.lognormal.cv". The description holds the value and what
// is accepted: "is -0.5; must be at least 0".
#ifndef PRISM_CORE_BASE_VIOLATIONS_H_
#define PRISM_CORE_BASE_VIOLATIONS_H_

#include <string>
#include <utility>
#include <vector>

namespace prism::base {

struct Violation {
  std::string field;
  std::string description;

  bool operator==(const Violation&) const = default;
};

// At most kMost violations are kept; the rest are counted. Not thread-safe.
class Violations {
 public:
  static constexpr int kMost = 100;

  void Add(std::string field, std::string description) {
    if (static_cast<int>(list_.size()) < kMost) {
      list_.push_back({std::move(field), std::move(description)});
    } else {
      ++dropped_;
    }
  }

  bool empty() const { return list_.empty(); }
  const std::vector<Violation>& list() const { return list_; }
  // Violations beyond kMost.
  int dropped() const { return dropped_; }

 private:
  std::vector<Violation> list_;
  int dropped_ = 0;
};

}  // namespace prism::base

#endif  // PRISM_CORE_BASE_VIOLATIONS_H_
