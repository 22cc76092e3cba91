// DamageLog: what is wrong with a trace, counted and named.
//
// Nothing that is wrong with a recording is fatal: the row, the operation or
// the step is left out or mended, and said. Equal damage is one entry with a
// count and the place where it was seen first. Not thread-safe.
#ifndef PRISM_CORE_TRACE_DAMAGE_H_
#define PRISM_CORE_TRACE_DAMAGE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace prism::trace {

struct Damage {
  std::string file;
  int64_t line = 0;   // from 1; 0: not of a line
  std::string field;  // the column or key; empty: of the whole line or file
  // What is wrong and what became of it: "is not a number; row left out".
  std::string what;
  std::string example;  // the first such value; may be empty
  int64_t count = 0;
};

// "trace.csv:12: duration "abc" is not a number; row left out (3 times)".
std::string Describe(const Damage& damage);

// At most kMost entries are kept apart; all others are counted.
class DamageLog {
 public:
  static constexpr int kMost = 100;

  // Where the following damage is found, until the next call.
  void SetFile(std::string_view file) { file_ = file; }

  void Add(int64_t line, std::string_view field, std::string_view what,
           std::string_view example = {}, int64_t count = 1);

  bool empty() const { return entries_.empty(); }
  // In the order of first sight.
  const std::vector<Damage>& entries() const { return entries_; }
  // Beyond kMost entries.
  int64_t unnamed() const { return unnamed_; }
  // All of it.
  int64_t total() const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;

  std::string file_;
  std::vector<Damage> entries_;
  std::map<Key, size_t> index_;
  int64_t unnamed_ = 0;
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_DAMAGE_H_
