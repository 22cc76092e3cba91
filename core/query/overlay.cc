#include "core/query/overlay.h"

#include <memory>
#include <vector>

#include "core/base/check.h"
#include "prism/v1/distribution.pb.h"

namespace prism::query {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool IsWhole(const FieldDescriptor& field) {
  return field.is_repeated() ||
         field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE ||
         field.message_type() == prism::v1::Distribution::descriptor();
}

}  // namespace

void Overlay(const Message& changes, Message& base) {
  PRISM_CHECK(changes.GetDescriptor() == base.GetDescriptor());
  const auto& from = *changes.GetReflection();
  const auto& to = *base.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  from.ListFields(changes, &fields);
  const std::unique_ptr<Message> whole(changes.New());
  whole->CopyFrom(changes);
  for (const FieldDescriptor* field : fields) {
    if (IsWhole(*field)) {
      to.ClearField(&base, field);
    } else {
      Overlay(from.GetMessage(changes, field),
              *to.MutableMessage(&base, field));
      from.ClearField(whole.get(), field);
    }
  }
  base.MergeFrom(*whole);
}

}  // namespace prism::query
