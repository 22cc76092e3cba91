// prismctl cluster: clusters that a server stores.
#ifndef PRISM_CLIENT_PRISMCTL_CLUSTER_COMMAND_H_
#define PRISM_CLIENT_PRISMCTL_CLUSTER_COMMAND_H_

#include "client/prismctl/command.h"

namespace prism::prismctl {

Command ClusterCommand();

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_CLUSTER_COMMAND_H_
