#include "client/import/job_fields.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "client/import/arithmetic.h"
#include "core/query/document_names.h"

namespace prism::import {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr std::string_view kOverlap = "overlap.";

// As SetField, for a list.
std::string SetItems(const FieldDescriptor& field, const std::string& text,
                     Message& message) {
  const auto& reflection = *message.GetReflection();
  reflection.ClearField(&message, &field);
  const std::vector<std::string> items =
      absl::StrSplit(text, absl::ByAnyChar(", "), absl::SkipEmpty());
  for (const std::string& item : items) {
    const std::optional<int64_t> number = ParseInteger(item);
    if (!number.has_value() || *number < 0 || *number > UINT32_MAX)
      return absl::StrCat("whole numbers from 0 to ", UINT32_MAX);
    reflection.AddUInt32(&message, &field, static_cast<uint32_t>(*number));
  }
  return "";
}

// What `field` accepts; empty after setting it.
std::string SetField(const FieldDescriptor& field, const std::string& text,
                     Message& message) {
  if (field.is_repeated()) return SetItems(field, text, message);
  const auto& reflection = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    const auto& type = *field.enum_type();
    const auto* value = query::FindEnumWord(type, text);
    if (value == nullptr)
      return "one of " + absl::StrJoin(query::EnumWords(type), ", ");
    reflection.SetEnum(&message, &field, value);
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    if (text != "true" && text != "false") return "true or false";
    reflection.SetBool(&message, &field, text == "true");
  } else {
    const std::optional<int64_t> number = ParseInteger(text);
    if (!number.has_value() || *number < 1 || *number > UINT32_MAX)
      return absl::StrCat("a whole number from 1 to ", UINT32_MAX);
    reflection.SetUInt32(&message, &field, static_cast<uint32_t>(*number));
  }
  return "";
}

template <typename Visit>
bool VisitFieldOf(Message& part, const std::string& name, Visit visit) {
  const auto* field = part.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr || field->message_type() != nullptr) return false;
  visit(*field, part);
  return true;
}

template <typename Visit>
bool VisitField(const std::string& name, prism::v1::Job& job, Visit visit) {
  if (name.compare(0, kOverlap.size(), kOverlap) == 0) {
    return VisitFieldOf(*job.mutable_parallelism()->mutable_overlap(),
                        name.substr(kOverlap.size()), visit);
  }
  for (Message* part : {static_cast<Message*>(job.mutable_model()),
                        static_cast<Message*>(job.mutable_parallelism()),
                        static_cast<Message*>(job.mutable_training())}) {
    if (VisitFieldOf(*part, name, visit)) return true;
  }
  return false;
}

}  // namespace

bool IsJobField(const std::string& name) {
  prism::v1::Job job;
  return VisitField(name, job, [](const auto&, const auto&) {});
}

void SetJobField(const std::string& name, const std::string& text,
                 prism::v1::Job& job, base::Violations& violations) {
  VisitField(name, job, [&](const FieldDescriptor& field, Message& part) {
    const std::string accepted = SetField(field, text, part);
    if (!accepted.empty()) {
      violations.Add("--set " + name,
                     absl::StrCat("is \"", text, "\"; must be ", accepted));
    }
  });
}

}  // namespace prism::import
