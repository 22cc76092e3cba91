// Page tokens: where a list goes on, as an opaque text that fits into a URL.
#ifndef PRISM_SERVER_PAGE_TOKEN_H_
#define PRISM_SERVER_PAGE_TOKEN_H_

#include <optional>
#include <string>
#include <string_view>

namespace prism::server {

// A token for `position` in the answers to `query`, the bytes of all that makes
// up the list. Holds a checksum of both; it is no secret and grants nothing.
std::string MakePageToken(std::string_view query, std::string_view position);

// The position in `token`; nothing if it was not made for `query`.
std::optional<std::string> ReadPageToken(std::string_view query,
                                         std::string_view token);

}  // namespace prism::server

#endif  // PRISM_SERVER_PAGE_TOKEN_H_
