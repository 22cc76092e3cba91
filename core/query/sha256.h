// SHA-256 (FIPS 180-4).
#ifndef PRISM_CORE_QUERY_SHA256_H_
#define PRISM_CORE_QUERY_SHA256_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace prism::query {

using Digest = std::array<uint8_t, 32>;

// Of `parts`, one after the other.
Digest Sha256(std::initializer_list<std::string_view> parts);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_SHA256_H_
