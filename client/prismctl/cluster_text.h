// Stored clusters and their nodes as text.
#ifndef PRISM_CLIENT_PRISMCTL_CLUSTER_TEXT_H_
#define PRISM_CLIENT_PRISMCTL_CLUSTER_TEXT_H_

#include <string>

#include "prism/v1/cluster_service.pb.h"

namespace prism::prismctl {

// One line each, under a heading.
std::string ClustersText(const prism::v1::ListClustersResponse& clusters);
std::string NodesText(const prism::v1::ListNodesResponse& nodes);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_CLUSTER_TEXT_H_
