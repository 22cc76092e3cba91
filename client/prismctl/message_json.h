// Messages of any type as JSON: the answers of commands.
#ifndef PRISM_CLIENT_PRISMCTL_MESSAGE_JSON_H_
#define PRISM_CLIENT_PRISMCTL_MESSAGE_JSON_H_

#include <google/protobuf/message.h>

#include <string>

namespace prism::prismctl {

// `message` as an indented JSON object with its fields' names as keys. Fields
// without a value have their default, lists are there when they are empty;
// messages, members of a oneof and optional fields are left out where they are
// not set. A Provenance's keys stand among those of the message that holds it.
// Enum values have their words, timestamps are RFC 3339. Numbers read back to
// the same bits.
std::string MessageJson(const google::protobuf::Message& message);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_MESSAGE_JSON_H_
