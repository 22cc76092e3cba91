#include "client/prismctl/server_call.h"

#include <filesystem>
#include <system_error>

#include "core/query/check_cluster.h"

namespace prism::prismctl {

bool NamesStoredCluster(const std::string& value, const Session& session) {
  if (session.options.server.empty() || !query::IsClusterName(value)) {
    return false;
  }
  std::error_code ignored;
  return !std::filesystem::exists(value, ignored);
}

}  // namespace prism::prismctl
