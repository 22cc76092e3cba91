// Overlay: a message with some fields replaced by another's.
#ifndef PRISM_CORE_QUERY_OVERLAY_H_
#define PRISM_CORE_QUERY_OVERLAY_H_

#include <google/protobuf/message.h>

namespace prism::query {

// Sets in `base` every field that is set in `changes`, message by message;
// lists and distributions are replaced as a whole, and a field of a oneof takes
// the place of the others.
//
// Requires: both are of one type.
void Overlay(const google::protobuf::Message& changes,
             google::protobuf::Message& base);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_OVERLAY_H_
