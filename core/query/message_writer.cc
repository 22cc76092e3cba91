#include "core/query/message_writer.h"

#include <absl/strings/str_cat.h>

#include <map>
#include <utility>
#include <vector>

#include "core/query/document_names.h"
#include "prism/v1/distribution.pb.h"
#include "prism/v1/step_profile.pb.h"

namespace prism::query {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

Node EnumNode(const FieldDescriptor& field, int number) {
  const auto* value = field.enum_type()->FindValueByNumber(number);
  std::string word = value == nullptr ? "" : EnumWord(*value);
  if (word.empty()) return {static_cast<int64_t>(number)};
  return {std::move(word)};
}

// The value of a singular field, or item `i` of a repeated one.
Node ValueNode(const Message& m, const FieldDescriptor& field, int i) {
  const Reflection& r = *m.GetReflection();
  const FieldDescriptor* f = &field;
  const bool many = f->is_repeated();
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return {int64_t{many ? r.GetRepeatedInt32(m, f, i) : r.GetInt32(m, f)}};
    case FieldDescriptor::CPPTYPE_INT64:
      return {int64_t{many ? r.GetRepeatedInt64(m, f, i) : r.GetInt64(m, f)}};
    case FieldDescriptor::CPPTYPE_UINT32:
      return {int64_t{many ? r.GetRepeatedUInt32(m, f, i) : r.GetUInt32(m, f)}};
    case FieldDescriptor::CPPTYPE_UINT64:
      return {
          uint64_t{many ? r.GetRepeatedUInt64(m, f, i) : r.GetUInt64(m, f)}};
    case FieldDescriptor::CPPTYPE_FLOAT:
      return {double{many ? r.GetRepeatedFloat(m, f, i) : r.GetFloat(m, f)}};
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return {many ? r.GetRepeatedDouble(m, f, i) : r.GetDouble(m, f)};
    case FieldDescriptor::CPPTYPE_BOOL:
      return {many ? r.GetRepeatedBool(m, f, i) : r.GetBool(m, f)};
    case FieldDescriptor::CPPTYPE_STRING:
      return {many ? r.GetRepeatedString(m, f, i) : r.GetString(m, f)};
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumNode(
          *f, many ? r.GetRepeatedEnumValue(m, f, i) : r.GetEnumValue(m, f));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageToNode(many ? r.GetRepeatedMessage(m, f, i)
                                : r.GetMessage(m, f));
  }
  return {};
}

Node ListNode(const Message& message, const FieldDescriptor& field) {
  Node::List list;
  const int size = message.GetReflection()->FieldSize(message, &field);
  list.reserve(static_cast<size_t>(size));
  for (int i = 0; i < size; ++i) {
    list.push_back(ValueNode(message, field, i));
  }
  return {std::move(list)};
}

// The one map of the vocabulary, as in MessageReader::ReadFactors.
Node FactorsNode(const Message& message) {
  Node::Map map;
  const auto* profile =
      google::protobuf::DynamicCastToGenerated<prism::v1::StepProfile>(
          &message);
  if (profile == nullptr) return {std::move(map)};
  const std::map<uint32_t, double> sorted(profile->slowdown().begin(),
                                          profile->slowdown().end());
  for (const auto& [rank, factor] : sorted) {
    map.push_back({absl::StrCat(rank), {factor}});
  }
  return {std::move(map)};
}

Node FieldNode(const Message& message, const FieldDescriptor& field) {
  if (field.is_map()) return FactorsNode(message);
  if (field.is_repeated()) return ListNode(message, field);
  return ValueNode(message, field, 0);
}

}  // namespace

Node MessageToNode(const Message& message) {
  const auto& type = *message.GetDescriptor();
  if (&type == prism::v1::Mixture::descriptor()) {
    return ListNode(message, *type.FindFieldByName("components"));
  }
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  if (&type == prism::v1::Distribution::descriptor() && fields.size() == 1 &&
      fields[0]->name() == "constant") {
    return ValueNode(message, *fields[0], 0);
  }
  Node::Map map;
  for (const FieldDescriptor* field : fields) {
    map.push_back({field->name(), FieldNode(message, *field)});
  }
  return {std::move(map)};
}

}  // namespace prism::query
