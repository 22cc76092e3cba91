// Messages of any type as JSON: the answers of commands.
#ifndef PRISM_CLIENT_PRISMCTL_MESSAGE_JSON_H_
#define PRISM_CLIENT_PRISMCTL_MESSAGE_JSON_H_

#include <google/protobuf/message.h>

#include <string>

#include "core/query/node.h"

namespace prism::prismctl {

// `message` as an indented JSON object with its fields' names as keys. Fields
// without a value have their default, lists are there when they are empty;
// messages, members of a oneof and optional fields are left out where they are
// not set. The keys of a Provenance and of a Completion stand among those of
// the message that holds it.
// Enum values have their words, timestamps are RFC 3339. Numbers read back to
// the same bits.
std::string MessageJson(const google::protobuf::Message& message);

// The same as a tree; its root is a map.
query::Node MessageTree(const google::protobuf::Message& message);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_MESSAGE_JSON_H_
