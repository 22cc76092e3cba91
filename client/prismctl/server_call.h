// What commands that ask a server share.
#ifndef PRISM_CLIENT_PRISMCTL_SERVER_CALL_H_
#define PRISM_CLIENT_PRISMCTL_SERVER_CALL_H_

#include <absl/status/statusor.h>
#include <google/protobuf/message.h>

#include <string>

#include "client/connection.h"
#include "client/prismctl/session.h"

namespace prism::prismctl {

// The answer of the session's server to `method`
// ("/prism.v1.ClusterService/GetCluster"), within the session's timeout.
//
// Requires: the session has a server.
template <typename Response>
absl::StatusOr<Response> AskServer(const std::string& method,
                                   const google::protobuf::Message& request,
                                   const Session& session) {
  return client::Connection::To(session.options.server)
      ->Call<Response>(method, request, session.options.timeout);
}

// Whether `value`, given where a cluster's document is expected, is the name of
// a cluster that the session's server stores: where there is a server, the
// value could be such a name, and no file is called so.
bool NamesStoredCluster(const std::string& value, const Session& session);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_SERVER_CALL_H_
