// What was wrong with a trace file: counted, and the first of it named.
#ifndef PRISM_CORE_TRACE_KINETO_DAMAGE_H_
#define PRISM_CORE_TRACE_KINETO_DAMAGE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace prism::kineto {

struct DamagedPlace {
  int64_t byte = 0;  // of the file as it is uncompressed
  std::string what;

  bool operator==(const DamagedPlace&) const = default;
};

// Not thread-safe.
class Damage {
 public:
  static constexpr size_t kMostNamed = 20;

  void Add(int64_t byte, std::string what) {
    ++count_;
    if (named_.size() < kMostNamed) named_.push_back({byte, std::move(what)});
  }

  int64_t count() const { return count_; }
  // The first kMostNamed.
  const std::vector<DamagedPlace>& named() const { return named_; }

 private:
  int64_t count_ = 0;
  std::vector<DamagedPlace> named_;
};

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_DAMAGE_H_
