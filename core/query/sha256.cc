#include "core/query/sha256.h"

#include <openssl/evp.h>

#include <memory>

#include "core/base/check.h"

namespace prism::query {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

Digest Sha256(std::initializer_list<std::string_view> parts) {
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  // These calls fail only where memory is gone or the library is broken.
  PRISM_CHECK(context != nullptr);
  PRISM_CHECK(EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  for (std::string_view part : parts) {
    PRISM_CHECK(EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1);
  }
  Digest digest;
  PRISM_CHECK(EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1);
  return digest;
}

}  // namespace prism::query
