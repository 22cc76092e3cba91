#include "client/prismctl/message_json.h"

#include <absl/time/time.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/timestamp.pb.h>

#include <cstdint>
#include <utility>

#include "core/query/document_names.h"
#include "core/query/json_text.h"
#include "core/query/node.h"
#include "prism/v1/completion_service.pb.h"
#include "prism/v1/placement_service.pb.h"

namespace prism::prismctl {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Timestamp;
using query::Node;

Node NodeOf(const Message& message);

Node TimeNode(const Message& message) {
  Timestamp time;
  time.CopyFrom(message);
  return {absl::FormatTime(
      absl::RFC3339_full,
      absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos()),
      absl::UTCTimeZone())};
}

Node EnumNode(const google::protobuf::EnumValueDescriptor& value) {
  const std::string word = query::EnumWord(value);
  return {word.empty() ? value.name() : word};
}

// The value of `field`, of the item `index` where it is repeated.
Node ValueNode(const Message& message, const FieldDescriptor& field,
               int index) {
  const auto& r = *message.GetReflection();
  const bool item = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return NodeOf(item ? r.GetRepeatedMessage(message, &field, index)
                         : r.GetMessage(message, &field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumNode(item ? *r.GetRepeatedEnum(message, &field, index)
                           : *r.GetEnum(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return {item ? r.GetRepeatedBool(message, &field, index)
                   : r.GetBool(message, &field)};
    case FieldDescriptor::CPPTYPE_STRING:
      return {item ? r.GetRepeatedString(message, &field, index)
                   : r.GetString(message, &field)};
    case FieldDescriptor::CPPTYPE_INT32:
      return {int64_t{item ? r.GetRepeatedInt32(message, &field, index)
                           : r.GetInt32(message, &field)}};
    case FieldDescriptor::CPPTYPE_INT64:
      return {int64_t{item ? r.GetRepeatedInt64(message, &field, index)
                           : r.GetInt64(message, &field)}};
    case FieldDescriptor::CPPTYPE_UINT32:
      return {int64_t{item ? r.GetRepeatedUInt32(message, &field, index)
                           : r.GetUInt32(message, &field)}};
    case FieldDescriptor::CPPTYPE_UINT64:
      return {uint64_t{item ? r.GetRepeatedUInt64(message, &field, index)
                            : r.GetUInt64(message, &field)}};
    case FieldDescriptor::CPPTYPE_FLOAT:
      return {double{item ? r.GetRepeatedFloat(message, &field, index)
                          : r.GetFloat(message, &field)}};
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return {item ? r.GetRepeatedDouble(message, &field, index)
                   : r.GetDouble(message, &field)};
  }
  return {};
}

Node ListNode(const Message& message, const FieldDescriptor& field) {
  Node::List list;
  const int size = message.GetReflection()->FieldSize(message, &field);
  for (int i = 0; i < size; ++i) list.push_back(ValueNode(message, field, i));
  return {std::move(list)};
}

// Whether the keys of `field` stand among those of its message.
bool IsFlat(const FieldDescriptor& field) {
  return !field.is_repeated() &&
         (field.message_type() == prism::v1::Provenance::descriptor() ||
          field.message_type() == prism::v1::Completion::descriptor());
}

void AddField(const Message& message, const FieldDescriptor& field,
              Node::Map& map) {
  if (field.is_repeated()) {
    map.push_back({field.name(), ListNode(message, field)});
    return;
  }
  if (field.has_presence() &&
      !message.GetReflection()->HasField(message, &field)) {
    return;
  }
  Node value = ValueNode(message, field, 0);
  if (!IsFlat(field)) {
    map.push_back({field.name(), std::move(value)});
    return;
  }
  for (query::Entry& entry : std::get<Node::Map>(value.value)) {
    map.push_back(std::move(entry));
  }
}

Node NodeOf(const Message& message) {
  if (message.GetDescriptor() == Timestamp::descriptor()) {
    return TimeNode(message);
  }
  Node::Map map;
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    AddField(message, *message.GetDescriptor()->field(i), map);
  }
  return {std::move(map)};
}

}  // namespace

Node MessageTree(const Message& message) { return NodeOf(message); }

std::string MessageJson(const Message& message) {
  return query::FormatJson(NodeOf(message));
}

}  // namespace prism::prismctl
