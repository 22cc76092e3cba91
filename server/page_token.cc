#include "server/page_token.h"

#include <absl/strings/escaping.h>
#include <absl/strings/string_view.h>

#include "core/query/sha256.h"

namespace prism::server {
namespace {

constexpr size_t kChecksumBytes = 8;

std::string Checksum(std::string_view query, std::string_view position) {
  const std::string size = std::to_string(query.size()) + ":";
  const auto digest = query::Sha256({size, query, position});
  return std::string(digest.begin(), digest.begin() + kChecksumBytes);
}

}  // namespace

std::string MakePageToken(std::string_view query, std::string_view position) {
  std::string bytes = Checksum(query, position);
  bytes.append(position);
  return absl::WebSafeBase64Escape(bytes);
}

std::optional<std::string> ReadPageToken(std::string_view query,
                                         std::string_view token) {
  std::string bytes;
  if (!absl::WebSafeBase64Unescape(
          absl::string_view(token.data(), token.size()), &bytes) ||
      bytes.size() < kChecksumBytes) {
    return std::nullopt;
  }
  std::string position = bytes.substr(kChecksumBytes);
  // One token, one spelling.
  if (MakePageToken(query, position) != token) return std::nullopt;
  return position;
}

}  // namespace prism::server
