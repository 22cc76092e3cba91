// CanonicalWriter: the bytes of a canonical form.
//
// Every value is its tag, one byte, and then
//   an integer  8 bytes, least significant first
//   a number    the 8 bytes of its IEEE 754 bits, least significant first; -0
//               is written as 0
//   a text      its length as an integer, then its bytes
//   a list      its length as an integer, then its items
// so that no two sequences of values have the same bytes.
#ifndef PRISM_CORE_QUERY_CANONICAL_WRITER_H_
#define PRISM_CORE_QUERY_CANONICAL_WRITER_H_

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace prism::query {

class CanonicalWriter final {
 public:
  void Integer(uint8_t tag, int64_t value) {
    bytes_ += static_cast<char>(tag);
    Word(static_cast<uint64_t>(value));
  }
  void Number(uint8_t tag, double value) {
    bytes_ += static_cast<char>(tag);
    Word(std::bit_cast<uint64_t>(value == 0 ? 0.0 : value));
  }
  void Text(uint8_t tag, std::string_view value) {
    Integer(tag, static_cast<int64_t>(value.size()));
    bytes_.append(value);
  }
  // `size` items follow.
  void List(uint8_t tag, size_t size) {
    Integer(tag, static_cast<int64_t>(size));
  }

  std::string Take() { return std::move(bytes_); }

 private:
  void Word(uint64_t word) {
    for (int shift = 0; shift < 64; shift += 8) {
      bytes_ += static_cast<char>(word >> shift);
    }
  }

  std::string bytes_;
};

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_CANONICAL_WRITER_H_
