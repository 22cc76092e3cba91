// The document tree of a message: the opposite of MessageReader.
#ifndef PRISM_CORE_QUERY_MESSAGE_WRITER_H_
#define PRISM_CORE_QUERY_MESSAGE_WRITER_H_

#include <google/protobuf/message.h>

#include "core/query/node.h"

namespace prism::query {

// Fields that are not set are left out; the others come in the order of their
// tags, map entries in the order of their keys.
Node MessageToNode(const google::protobuf::Message& message);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_MESSAGE_WRITER_H_
